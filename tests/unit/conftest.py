# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Property tests have no deadline, because they judge results and not the speed of a shared machine."""

from __future__ import annotations

import gc

from hypothesis import settings

from effort import share

settings.register_profile("shared machine", deadline=None, derandomize=False, max_examples=share(100))
settings.load_profile("shared machine")


def pytest_collection_finish() -> None:
    """Objects that are loaded by now stay: no later collection of garbage looks through them."""
    gc.collect()
    gc.freeze()
