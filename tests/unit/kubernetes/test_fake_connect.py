# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small Kafka Connect of tests/kubernetes."""

from __future__ import annotations

import pytest

import fake_connect
from fake_connect import FakeConnect


def test_repeated_stops_do_not_put_a_stop_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator sends a stop at each look until the worker shows it, and looks can be faster than a stop."""
    now = [0.0]
    monkeypatch.setattr(fake_connect.time, "monotonic", lambda: now[0])
    workers = FakeConnect(delay=1.0)
    config = {"connector.class": f"{fake_connect.MIRROR}MirrorSourceConnector"}
    workers.call("POST", "/connectors", {"name": "flow", "config": config})
    for moment in (0.0, 0.4, 0.8, 1.2):
        now[0] = moment
        workers.call("PUT", "/connectors/flow/stop")
    assert workers.states() == {"flow": ("STOPPED", 0)}
