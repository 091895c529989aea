# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixture with the scripted worker of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.switchback.kafka_dr.tests.support.scripted import playing
from ansible_collections.switchback.kafka_dr.tests.unit.connect.worker import ScriptedWorker


@pytest.fixture
def worker() -> Iterator[ScriptedWorker]:
    with playing(ScriptedWorker()) as served:
        yield served
