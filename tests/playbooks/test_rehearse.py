# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rehearsal beside running applications proves the whole procedure and leaves nothing."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import quoted
from kills import beginning, kill_at, outwait
from lab.lab import Lab
from scenario import Scenario, totals
from secured import command_lines
from snapshot import at_rest, read_inventory, snapshot
from workers import worker

pytestmark = pytest.mark.long

GROUPS = ["settlement", "fraud"]
CONFIRM = {"kafka_dr_confirm": "B"}
QUICK = {**CONFIRM, "kafka_dr_rehearsal_seconds": 2}


def structure(scenario: Scenario) -> dict[str, Any]:
    """Everything except the values that running applications change."""
    return {
        alias: {key: value for key, value in one.items() if key not in ("committed_offsets", "journal")}
        for alias, one in snapshot(scenario.folder, []).items()
    }


def everything(scenario: Scenario) -> dict[str, Any]:
    """With the offsets of all groups and the replicated offsets of connectors except heartbeats: applications are
    stopped.
    """
    lab = Lab(scenario.folder, quiet=True)
    found: dict[str, Any] = {"clusters": snapshot(scenario.folder, GROUPS), "offsets": {}, "groups": {}}
    for alias, cluster in lab.info()["clusters"].items():
        # Keep a reference until its result has arrived.
        admin = AdminClient({"bootstrap.servers": cluster["bootstrap_servers"]})
        listed = admin.list_consumer_groups(request_timeout=15).result(30)
        found["groups"][alias] = sorted(group.group_id for group in listed.valid)
        for name in found["clusters"][alias]["connectors"]:
            rows = worker(lab, alias).call("GET", quoted("connectors", name, "offsets"))["offsets"]
            found["offsets"][name] = sorted(
                json.dumps(row, sort_keys=True)
                for row in rows
                if name.endswith("MirrorSourceConnector") and row["partition"].get("topic") != "heartbeats"
            )
    return found


def report(scenario: Scenario) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((scenario.reports / "rehearsal.json").read_text())
    return read


def verdicts(rehearsal: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in rehearsal["checks"]}


def test_it_is_refused_without_the_confirmation_and_shown_in_check_mode(enabled: Scenario) -> None:
    before = structure(enabled)
    done = enabled.playbook("rehearse", {}, expect=2)
    assert 'kafka_dr_confirm is "", wanted "B"' in " ".join(done["output"].split()).replace('\\"', '"')
    done = enabled.playbook("rehearse", CONFIRM, ("--check",))
    assert "would move kafka-dr-rehearsal-producer" in " ".join(done["output"].split())
    assert structure(enabled) == before
    plan = enabled.plan("rehearsal")
    assert [row["action"] for row in plan["application"]] == ["run"] * 3
    for kind in ("topic", "group", "connector"):
        made, gone = ([row["name"] for row in plan[kind] if row["action"] == each] for each in ("create", "delete"))
        assert sorted(made) == sorted(gone)
        assert made


def test_a_rehearsal_in_both_directions_beside_the_applications(enabled: Scenario) -> None:
    enabled.start()
    enabled.traffic(1000)
    before = structure(enabled)
    # The values that set_stats passes on, at the end of the output.
    shown = patch.dict(os.environ, {"ANSIBLE_SHOW_CUSTOM_STATS": "true"})
    with shown:
        done = enabled.playbook("rehearse", {**QUICK, "kafka_dr_rehearsal_back": True, "kafka_dr_audit": True})
    rehearsal = report(enabled)
    assert rehearsal["outcome"] == "completed"
    (handed,) = re.findall(r"^CUSTOM STATS: .*\n\s*RUN: (\{.*\})", done["output"], re.MULTILINE)
    reported = json.loads(handed)
    # The last of its two moves reported its own run. The rehearsal's own values replace the others.
    assert re.fullmatch(r"\d{8}T\d{6}Z-\w{6}", reported.pop("kafka_dr_run"))
    assert reported == {"kafka_dr_verdict": rehearsal["verdict"], "kafka_dr_outcome": "completed"}
    assert [phase["phase"] for phase in rehearsal["phases"]] == ["prepare", "load", "move", "back", "count", "clean"]
    # No principal is named that could be denied.
    found = verdicts(rehearsal)
    assert found.pop("cutover") == "UNKNOWN"
    assert set(found.values()) == {"PROVEN"}, rehearsal["checks"]
    for move in rehearsal["moves"]:
        assert {name: verdict for name, verdict in verdicts(move).items() if name != "fence"} == dict.fromkeys(
            ("drained", "committed_offsets", "first_write", "groups", "records"), "PROVEN"
        )
    counts = totals(rehearsal["ledger"])
    assert counts["acknowledged"] > 400
    assert {counts[key] for key in ("lost", "processed_twice", "phantom")} == {0}
    assert structure(enabled) == before
    enabled.traffic(1000)
    # A second rehearsal is predicted from the first.
    enabled.playbook("rehearse", {**QUICK, "kafka_dr_rehearsal_back": True})
    assert rehearsal["predicted"]["rehearsals"] == 0
    again = report(enabled)["predicted"]
    assert (again["rehearsals"], again["cutover_s"]) == (1, rehearsal["actual"]["cutover_s"])
    enabled.playbook("rehearse", {**QUICK, "kafka_dr_rehearsal_back": True}, ("--check",))
    predicted = json.loads((enabled.reports / "check-rehearsal.json").read_text())["predicted"]
    assert predicted["runs"] == 2
    assert predicted["seconds"] > rehearsal["actual"]["cutover_s"]
    assert "last rehearsed: 20" in enabled.playbook("readiness")["output"]


def test_a_rehearsal_of_the_type_continuous(enabled: Scenario) -> None:
    enabled.playbook("rehearse", {**QUICK, "kafka_dr_rehearsal_type": "continuous"})
    rehearsal = report(enabled)
    assert (rehearsal["outcome"], verdicts(rehearsal)["records"], verdicts(rehearsal)["nothing left"]) == (
        "completed",
        "PROVEN",
        "PROVEN",
    )


def test_the_applications_are_unaffected(enabled: Scenario) -> None:
    enabled.traffic(1000)
    enabled.stop()
    found = totals(enabled.check())
    assert 2 * found["acknowledged"] == found["processed"]
    assert {found[key] for key in ("lost", "processed_twice", "phantom", "out_of_order")} == {0}


@pytest.mark.parametrize("at", ["step_load.yml", beginning("commit_offsets"), "clean.yml"])
def test_leftovers_of_an_interrupted_rehearsal_are_removed(enabled: Scenario, at: str) -> None:
    # MirrorMaker 2's own group sync has yet to catch up with the stopped applications.
    before = at_rest(lambda: everything(enabled), step=2)
    kill_at(enabled, at, "rehearse", QUICK)
    outwait(enabled)
    done = enabled.playbook("rehearse", QUICK, expect=2)
    assert "rehearse_cleanup" in done["output"]
    enabled.playbook("rehearse_cleanup", CONFIRM)
    assert everything(enabled) == before
    assert not (enabled.reports / "kafka-dr-rehearsal-B-P").exists()
    assert "There was nothing to delete" in enabled.playbook("rehearse_cleanup", CONFIRM)["output"]
    assert not [name for name in command_lines() if str(enabled.folder) in name and "kafka-dr-rehearsal" in name]


def test_an_unrelated_leftover_is_reported_and_not_changed(enabled: Scenario) -> None:
    """Another flow has replicated the topic of a rehearsal."""
    brokers = read_inventory(enabled.inventory)["kafka_dr_clusters"]["B"]["bootstrap_servers"]
    admin = AdminClient({"bootstrap.servers": brokers})
    stray = "X.kafka-dr-rehearsal-B-P-canary"
    admin.create_topics([NewTopic(stray, 1, 1)])[stray].result()
    try:
        done = enabled.playbook("rehearse", QUICK, expect=2)
        text = " ".join(done["output"].split())
        assert f"topic {stray} on rehearsal-B has the name of a rehearsal, but this pair has not created it" in text
        assert "rehearse_cleanup" not in text
        enabled.playbook("rehearse_cleanup", CONFIRM)
        assert stray in admin.list_topics(timeout=15).topics
    finally:
        admin.delete_topics([stray])[stray].result()


def test_a_rehearsal_that_fails_cleans_up(enabled: Scenario) -> None:
    """Its readers never have enough time to reach the end."""
    before = everything(enabled)
    done = enabled.playbook("rehearse", {**QUICK, "kafka_dr_max_downtime": 1}, expect=2)
    assert "Nothing of the rehearsal is left" in " ".join(done["output"].split())
    rehearsal = report(enabled)
    assert (rehearsal["outcome"], verdicts(rehearsal)["nothing left"]) == ("failed", "PROVEN")
    assert everything(enabled) == before


def test_a_rehearsal_on_another_host_with_a_folder_of_its_own(enabled: Scenario, tmp_path: Path) -> None:
    """The host is this machine under another name. Other files in the folder are ignored."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "kept").write_text("mine")
    here = {"kafka_dr_run_on": "bastion", "ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    folder = {"kafka_dr_rehearsal_dir": str(tmp_path / "reports")}
    enabled.playbook("rehearse", {**QUICK, **here, **folder}, ("-i", "bastion,"))
    rehearsal = report(enabled)
    assert (rehearsal["outcome"], verdicts(rehearsal)["records"]) == ("completed", "PROVEN")
    assert [path.name for path in (tmp_path / "reports").iterdir()] == ["kept"]


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"kafka_dr_fence": "acl"}, "kafka_dr_rehearsal_principal is empty"),
        ({"kafka_dr_applications_on": "P"}, "only the playbook enable uses it"),
        ({"kafka_dr_rehearsal_principal": "User:rehearsal"}, "Only one of"),
    ],
)
def test_a_later_failure_is_refused_at_once(enabled: Scenario, variables: dict[str, Any], text: str) -> None:
    done = enabled.playbook("rehearse", {**QUICK, **variables}, expect=2)
    assert text in " ".join(done["output"].split())
    assert done["changed"] == 0


def test_leftovers_are_removed_even_if_the_pair_was_disabled_since(enabled: Scenario) -> None:
    kill_at(enabled, beginning("drain"), "rehearse", QUICK)
    outwait(enabled)
    enabled.playbook("disable", {"kafka_dr_confirm": "P"})
    enabled.playbook("rehearse_cleanup", CONFIRM)
    assert "There was nothing to delete" in enabled.playbook("rehearse_cleanup", CONFIRM)["output"]
    enabled.playbook("enable", {"kafka_dr_confirm": "P"})


def test_held_retention_survives_a_kill_and_a_rehearsal_and_is_restored(enabled: Scenario) -> None:
    declared = read_inventory(enabled.inventory)["kafka_dr_topics"]
    declared[0]["config"] = {"retention.ms": 3_600_000}
    confirm = {"kafka_dr_confirm": "P", "kafka_dr_topics": declared}
    hold = {**confirm, "kafka_dr_hold_retention": True}
    enabled.playbook("enable", confirm)
    before = kept(enabled)
    assert before["P"]["Payments"] == {"retention.ms": "3600000"}

    # The original values are stored before the first topic is changed. Otherwise -1 would be taken for the original.
    kill_at(enabled, "Set the retention of the topics", "enable", hold)
    outwait(enabled)
    enabled.playbook("enable", hold)
    # Their bytes are unlimited in any case, which is Kafka's default.
    endless = {alias: {name: {"retention.ms": "-1"} for name in topics} for alias, topics in before.items()}
    assert kept(enabled) == endless
    assert enabled.playbook("enable", hold)["changed"] == 0
    assert "retention is held" in enabled.playbook("readiness", hold)["output"]
    enabled.playbook("rehearse", {**hold, **QUICK})
    assert kept(enabled) == endless

    enabled.playbook("enable", confirm)
    after = kept(enabled)
    assert {alias: after[alias]["Payments"] for alias in after} == {alias: before[alias]["Payments"] for alias in after}
    # Replicas have their original values, or those that MirrorMaker 2 has synced from their originals since.
    values = {value for topics in after.values() for settings in topics.values() for value in settings.values()}
    assert values == {"3600000"}
    assert enabled.playbook("enable", confirm)["changed"] == 0


def kept(scenario: Scenario) -> dict[str, dict[str, dict[str, str]]]:
    """The own settings of originals and replicas."""
    names = {"P": ("Payments", "B.Payments"), "B": ("Payments", "P.Payments")}
    settings = {alias: one["settings"] for alias, one in snapshot(scenario.folder, []).items()}
    return {
        alias: {
            name: {key: value for key, value in settings[alias][name].items() if key.startswith("retention.")}
            for name in names[alias]
        }
        for alias in names
    }


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
def test_many_rehearsals_leave_equal_snapshots(enabled: Scenario) -> None:
    wanted = int(os.environ.get("KAFKA_DR_REHEARSALS", "100"))
    before = at_rest(lambda: everything(enabled), step=2)
    for number in range(wanted):
        enabled.playbook("rehearse", QUICK)
        rehearsal = report(enabled)
        assert (rehearsal["outcome"], verdicts(rehearsal)["records"]) == ("completed", "PROVEN"), number
        assert everything(enabled) == before, number
