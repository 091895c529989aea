# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups that fall behind."""

from __future__ import annotations

import json

from scenario import Scenario


def slow(scenario: Scenario, client: str, rate: int | None) -> None:
    """Let one group read at most this many records per second. None: as fast as it can."""
    definitions = scenario.folder / "ledger" / "clients.json"
    clients = json.loads(definitions.read_text())["clients"]
    scenario.ledger("stop", client)
    clients[client].pop("limit_rate", None)
    clients[client] |= {} if rate is None else {"limit_rate": rate}
    definitions.write_text(json.dumps({"clients": clients}))
    scenario.ledger("start", client)
