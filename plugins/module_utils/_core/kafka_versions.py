# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a version of Kafka Connect can do, from the version that its workers report.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re

__all__ = ["OLDEST_WORKER", "kafka_version", "too_old"]

#: KIP-980: a connector can be created in the state STOPPED. KIP-875 (3.5 and 3.6): STOPPED, and stored offsets.
OLDEST_WORKER = (3, 7)
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)*(-cc?[es]\b)?")


def kafka_version(reported: str) -> tuple[int, int] | None:
    """Return (major, minor) of Apache Kafka; None: unknown.

    Confluent Platform counts differently and marks its versions: 7.7.0-ccs and 7.7.0-ce contain Kafka 3.7.
    """
    found = _VERSION.match(reported)
    if found is None:
        return None
    major, minor = int(found[1]), int(found[2])
    return (major - 4 if found[3] else major), minor


def too_old(reported: str) -> bool:
    """Whether workers of this version cannot run a flow. An unknown version is not too old."""
    found = kafka_version(reported)
    return found is not None and found < OLDEST_WORKER
