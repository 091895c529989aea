# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the topic with MirrorMaker 2's checkpoints ends, so that later checkpoints are known to be newer.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from ..._core.partition import Partition
from ..._core.resources.topic_ids import CheckpointsEnd
from ..._kafka.client import Kafka
from ..._kafka.topics import describe, log_ranges
from .pair import ISOLATION

__all__ = ["checkpoints_end"]


def checkpoints_end(kafka: Kafka, topic: str) -> CheckpointsEnd:
    """Return where a checkpoints topic ends; if it does not exist, every checkpoint will be newer."""
    state = describe(kafka, [topic])[topic]
    if state is None:
        return CheckpointsEnd(0, "")
    return CheckpointsEnd(log_ranges(kafka, {Partition(topic, 0)}, ISOLATION)[Partition(topic, 0)][1], state.topic_id)
