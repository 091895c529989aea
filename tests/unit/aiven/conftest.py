# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Serve the emulator of Aiven's API for each test, and replace what needs Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.aiven import engine as aiven_engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.aiven.group_sync import Evidence
from ansible_collections.switchback.kafka_dr.tests.unit.aiven.api import Api, serving


class NoOffsets:
    """Replaces :class:`ConnectOffsets`, which needs Kafka."""

    def last_replicated_offset(self) -> dict[Any, int]:
        return {}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setattr(aiven_engine, "_API_SECONDS", 0.5)
    monkeypatch.setattr(aiven_engine, "ConnectOffsets", lambda *_values: NoOffsets())
    monkeypatch.setattr(aiven_engine, "read_evidence", lambda *_values: Evidence((), {}, frozenset(), 0.0))
    monkeypatch.delenv("AIVEN_TOKEN", raising=False)
    with serving(tmp_path) as found:
        yield found
