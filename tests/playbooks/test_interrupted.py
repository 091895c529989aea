# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a finished move stays, and an interrupted run says what is stopped and how to go on."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.rows import stamp
from kills import beginning, disturbed, outwait
from scenario import Scenario, totals

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500, "flush_seconds": 2},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
TO_B, TO_P = ({"kafka_dr_confirm": alias, "kafka_dr_to": alias} for alias in "BP")


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Under load on B, after a move."""
    with Scenario(tmp_path_factory.mktemp("interrupted"), clients=CLIENTS).up() as pair:
        pair.playbook("enable", {"kafka_dr_confirm": "P"})
        pair.start()
        pair.traffic(500)
        assert pair.move("failover_cutoff", "B")["outcome"] == "completed"
        pair.traffic(500)
        yield pair


def files(pair: Scenario) -> dict[Path, bytes]:
    """The files of the latest move."""
    folder = (pair.reports / "latest-move").resolve()
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def unchanged(before: dict[Path, bytes]) -> bool:
    return all(path.read_bytes() == content for path, content in before.items())


def written(pair: Scenario, name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((pair.reports / f"{name}.json").read_text())
    return report


def test_a_refused_run_and_an_idle_run_leave_the_report_of_the_move(moved: Scenario) -> None:
    before = files(moved)
    for forgotten in ({}, {"kafka_dr_confirm": "P"}):
        moved.playbook("failover_cutoff", forgotten, expect=2)
        assert files(moved) == before
        report = moved.report("cutoff", "B")
        assert (report["outcome"], report["run"]) == ("failed", None)
    assert moved.playbook("failover_cutoff", TO_B)["changed"] == 0
    assert files(moved) == before
    assert moved.report("cutoff", "B")["outcome"] == "already_there"
    latest = moved.report("cutoff", "B", "latest-move")
    assert latest["outcome"] == "completed"
    folder = moved.reports / "runs" / latest["run"]
    record = [path for path in before if path.name not in ("report.json", "page.html")]
    assert latest["files"] == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in record}
    assert {path.parent for path in record} == {folder}
    assert {path.stat().st_mode & 0o777 for path in record} == {0o440}
    outcomes = [row["outcome"] for row in written(moved, "index")["runs"]]
    assert outcomes == ["already_there", "failed", "failed", "completed"]


def interrupt(pair: Scenario, trigger: str, number: signal.Signals, **variables: Any) -> str:
    """The output of a failback that a signal has ended."""

    def send(run: subprocess.Popen[bytes]) -> None:
        run.send_signal(number)

    # The exit code is that of Ansible.
    rc, output = disturbed(pair, trigger, "failback", {**TO_P, **variables}, send)
    assert rc != 0, output[-2000:]
    outwait(pair)
    return " ".join(output.split())


def follow(pair: Scenario, text: str, playbook: str) -> Callable[..., dict[str, Any]]:
    """The command of this playbook in a text, ready to run."""
    command = rf"ansible-playbook switchback\.kafka_dr\.{playbook} -i INVENTORY((?: -e \w+=\w+)*)"
    (options,) = set(re.findall(command, text))
    return lambda **more: pair.playbook(playbook, more, tuple(shlex.split(options)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_an_interruption_while_a_producer_is_stopped_says_how_to_undo(moved: Scenario, number: signal.Signals) -> None:
    before = files(moved)
    output = interrupt(moved, beginning("drain"), number)
    assert f"stops {', then '.join(moved.names())} on B" in output
    follow(moved, output, "failover_cutoff")
    shown = " ".join(follow(moved, output, "status")()["output"].split())
    assert "INTERRUPTED: the cutoff run" in shown
    since = stamp(written(moved, "status")["journal"]["run"]["started"])
    assert f"since {since}: payments-api may be stopped" in shown
    assert f"since {since}: settlement is at work on B" in shown
    follow(moved, shown, "abandon")()
    assert files(moved) == before
    moved.traffic(300)


def test_an_interruption_in_the_audit_leaves_the_report_of_the_move(moved: Scenario) -> None:
    before = files(moved)
    output = interrupt(moved, ": Compare both clusters record by record]", signal.SIGINT, kafka_dr_audit=True)
    assert "MOVED to P" not in output
    report = moved.report("cutoff", "P", "latest-move")
    assert (report["outcome"], report["audit"]) == ("completed", None)
    (records,) = (check for check in report["checks"] if check["name"] == "records")
    assert records["verdict"] == "UNKNOWN"
    shown = moved.playbook("status")["output"]
    assert "applications live on P" in shown
    assert "INTERRUPTED" not in shown
    assert unchanged(before)
    moved.traffic(300)
    moved.playbook("verify", expect=None)
    amended = moved.report("cutoff", "P", "latest-move")
    (records,) = (check for check in amended["checks"] if check["name"] == "records")
    assert (amended["run"], records["verdict"]) == (report["run"], written(moved, "audit")["verdict"])
    assert amended["files"]
    assert unchanged(before)
    moved.stop()
    counted = totals(moved.check())
    assert (counted["lost"], counted["processed_twice"]) == (0, 0)
