# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add the folder of the third engine, so that it is found like an engine of the product."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _engines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core import engines as inventories
from ansible_collections.switchback.kafka_dr.tests.unit.engines.stages import STAGES, Stage


@pytest.fixture(autouse=True)
def third_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder has both parts: what the inventory reads, and what connects to it."""
    for package in (_engines, inventories):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(Path(__file__).parent / "third")])


@pytest.fixture
def stage(name: str, third_engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with STAGES[name](monkeypatch) as made:
        yield made
