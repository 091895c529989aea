# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook ``demo`` and ``make demo`` move with the same accounts."""

from __future__ import annotations

from demo import ACCOUNTS, OPERATOR
from repository import ROOT, document, read


def test_the_playbook_demo_moves_as_the_operator_whose_rights_it_grants() -> None:
    plays = document(ROOT / "playbooks" / "demo.yml")
    imported = [play.get("ansible.builtin.import_playbook") for play in plays]
    granted = imported.index("rights.yml")
    assert plays[granted]["vars"]["kafka_dr_accounts"] == ACCOUNTS
    first, *_rest = plays[granted + 1]["tasks"]
    assert first["ansible.builtin.include_role"]["tasks_from"] == "demo_operator"
    assert (
        imported.index("enable.yml") < granted < imported.index("failover_cutoff.yml") < imported.index("failback.yml")
    )
    assert f"'sasl.username': '{OPERATOR}'" in read(ROOT / "roles/lab/tasks/demo_operator.yml")
