# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``make demo`` and the playbook demo prove what the README shows; one bit that was turned over is found."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from installed import ROOT, Site
from run_records import reports_of

pytestmark = pytest.mark.timeout(900)


def test_the_playbook_demo_of_the_tarball_proves_it_without_the_checkout(tmp_path: Path) -> None:
    site = Site(tmp_path / "site")
    site.install()
    try:
        site.run("ansible-playbook switchback.kafka_dr.demo -e lab_dir=./lab", seconds=800)
    finally:
        site.run("ansible-playbook switchback.kafka_dr.lab_down -e lab_dir=./lab")
    lab = site.work / "lab"
    reports = reports_of(lab / "reports")
    assert set(reports) == {"cutoff-B", "cutoff-P"}
    for alias in ("B", "P"):
        report = reports[f"cutoff-{alias}"]
        assert report["headline"] == f"MOVED to {alias}"
        assert (report["verdict"], report["evidence"]["text"]) == ("PROVEN", "PROVEN"), report["checks"]
    counted = json.loads((lab / "check.json").read_text())
    assert counted["verdict"] == "clean"
    assert counted["totals"]["acknowledged"] > 6000
    ours, checkout = site.used
    assert "playbooks/demo.yml" in ours
    assert checkout == set()


def demo(*options: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the report."""
    command = [sys.executable, str(ROOT / "tests/support/demo.py"), *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
    return done.returncode, json.loads((ROOT / "build/demo/report.json").read_text())


def moved(report: dict[str, Any]) -> None:
    for name, to in (("failover", "B"), ("failback", "P")):
        leg = report[name]
        assert leg["headline"] == f"MOVED to {to}"
        assert (leg["verdict"], leg["evidence"]["text"]) == ("PROVEN", "PROVEN"), leg["checks"]
    records = report["records"]
    assert records["acknowledged"] > 0
    assert [records[name] for name in ("lost", "processed_twice", "phantom", "out_of_order")] == [0, 0, 0, 0]


@pytest.mark.long
def test_the_demo_moves_there_and_back_and_proves_it() -> None:
    code, report = demo()
    moved(report)
    assert (code, report["verdict"], report["audit"]["verdict"]) == (0, "PROVEN", "PROVEN")


@pytest.mark.long
def test_one_bit_on_a_disk_is_found() -> None:
    code, report = demo("--tamper")
    moved(report)
    assert (code, report["verdict"], report["audit"]["verdict"]) == (1, "REFUTED", "REFUTED")
    assert "P.Payments-3" in json.dumps(report["audit"])


@pytest.mark.long
def test_a_demo_that_is_ended_in_a_move_leaves_nothing_running() -> None:
    """make passes SIGTERM on; Ctrl-C and a lost terminal end it in the same way."""
    lab = ROOT / "build" / "demo" / "lab"
    with subprocess.Popen(
        [sys.executable, str(ROOT / "tests/support/demo.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        assert any("failover: the applications move" in line for line in demo.stdout)
        assert len(programs(lab)) >= 7, programs(lab)  # two brokers, two workers, three clients
        demo.send_signal(signal.SIGTERM)
        waited = wait_until(lambda: programs(lab), lambda found: not found, Bounds(15.0, 0.2))
        assert waited.done, waited.state
        assert "SIGTERM: ending everything that was started" in demo.communicate(timeout=15)[1]
        assert demo.returncode == 128 + signal.SIGTERM


def programs(folder: Path) -> list[str]:
    """The command lines of the processes of a lab and of the playbooks that work on it."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line[:200])
    return found
