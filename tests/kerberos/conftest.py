# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One realm and two clusters for all tests of a session, which run in the environment that ``make kerberos`` builds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kerberized import Kerberized, kerberized

FOLDER = Path(__file__).resolve().parents[2] / "build" / "kerberos" / "run"


@pytest.fixture(scope="session")
def clusters() -> Iterator[Kerberized]:
    found = kerberized(FOLDER)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in found.realm.environment.items():
            patch.setenv(name, value)
        try:
            found.start()
            yield found
        finally:
            found.stop()


@pytest.fixture(scope="session")
def wheel() -> str:
    """A Python whose confluent-kafka is the wheel, as in most environments."""
    assert "KAFKA_DR_WHEEL_PYTHON" in os.environ, "These tests are run by make kerberos."
    return os.environ["KAFKA_DR_WHEEL_PYTHON"]
