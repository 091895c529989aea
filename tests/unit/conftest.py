# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Property tests judge results, not the speed of a machine that others use too."""

from __future__ import annotations

import gc

from hypothesis import settings

settings.register_profile("shared machine", deadline=None, derandomize=False)
settings.load_profile("shared machine")


def pytest_collection_finish() -> None:
    """What was loaded by now stays: the collection after each run of a module need not look at it."""
    gc.collect()
    gc.freeze()
