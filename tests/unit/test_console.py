# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback plugin that shows a run in few lines."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.callback.console import CallbackModule, _block
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.compressed import compress, json_text
from repository import ROOT, document

PREFLIGHT = "/roles/cutover/tasks/preflight.yml:12"


class Stats:
    """The statistics that Ansible passes at the end of a playbook."""

    def __init__(self, failures: int) -> None:
        self.processed = {"localhost": 1}
        self._failures = failures

    def summarize(self, _host: str) -> dict[str, int]:
        return {"ok": 3, "changed": 1, "failures": self._failures, "unreachable": 0}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[CallbackModule, list[str]]]:
    """The plugin, and the list of lines that it shows, without times."""
    lines: list[str] = []
    plugin = CallbackModule()
    text = re.compile(r"\d\d:\d\d:\d\d +\+\d+\.\d s +| \(\d+\.\d s\)")
    display = SimpleNamespace(display=lambda line, **_more: lines.append(text.sub("", line)))
    monkeypatch.setattr(plugin, "_display", display)
    monkeypatch.setattr(plugin, "_handle_warnings", lambda _result: None)
    monkeypatch.setattr(plugin, "get_option", {"slow": 10.0, "still": 30.0}.__getitem__)
    yield plugin, lines
    # Its timer would print into a later test.
    plugin._stop_watching()


def task(action: str, name: str, path: str = PREFLIGHT) -> Any:
    return SimpleNamespace(
        action=action, get_name=lambda: f"switchback.kafka_dr.cutover : {name}", get_path=lambda: path
    )


def result(of: Any, **values: Any) -> Any:
    return SimpleNamespace(task=of, host=SimpleNamespace(get_name=lambda: "localhost"), result=values)


def test_a_phase_is_one_line_with_its_first_task_that_acts(shown: tuple[CallbackModule, list[str]]) -> None:
    plugin, lines = shown
    for action, name in (
        ("ansible.builtin.set_fact", "Begin the phase barrier"),
        ("ansible.builtin.include_tasks", "Set the barrier"),
        ("switchback.kafka_dr.dr_barrier", "Stop the connectors"),
        ("switchback.kafka_dr.dr_flows", "Start them"),
        ("ansible.builtin.set_fact", "End the last phase"),
        ("switchback.kafka_dr.dr_journal", "Close the run"),
    ):
        one = task(action, name)
        plugin.v2_playbook_on_task_start(one, is_conditional=False)
        plugin.v2_runner_on_ok(result(one, changed=True))
    assert lines == ["barrier         Stop the connectors", "Close the run: changed"]


def test_what_undoes_a_failed_phase_is_shown(shown: tuple[CallbackModule, list[str]]) -> None:
    plugin, lines = shown
    plugin.v2_playbook_on_task_start(task("set_fact", "Begin the phase drain"), is_conditional=False)
    plugin.v2_runner_on_failed(result(task("dr_status_info", "Wait"), msg="3 partitions lag."))
    one = task("switchback.kafka_dr.dr_flows", "Start the flows")
    plugin.v2_playbook_on_task_start(one, is_conditional=False)
    plugin.v2_runner_on_ok(result(one, changed=True))
    assert lines == ["Start the flows: changed"]


def test_a_step_of_a_rehearsal_is_one_line(shown: tuple[CallbackModule, list[str]]) -> None:
    plugin, lines = shown
    for name in ("Create the topics", "Start the clients"):
        one = task("switchback.kafka_dr.kafka_topic", name, "/roles/rehearsal/tasks/step_prepare.yml:9")
        plugin.v2_playbook_on_task_start(one, is_conditional=False)
        plugin.v2_runner_on_ok(result(one, changed=True))
    assert lines == ["prepare         Create the topics"]


@pytest.mark.parametrize("given", [list, lambda rows: compress(json_text(list(rows)))])
def test_other_tasks_are_shown_if_they_change_something(shown: tuple[CallbackModule, list[str]], given: Any) -> None:
    plugin, lines = shown
    changes = given({"name": f"t{number}"} for number in range(4))
    for name, changed in (("Read the journal", False), ("Create the topics", True)):
        one = task("switchback.kafka_dr.kafka_topic", name)
        plugin.v2_playbook_on_task_start(one, is_conditional=False)
        plugin.v2_runner_on_ok(result(one, changed=changed, changes=changes))
    assert lines == ["Create the topics: 4 changed: t0, t1, t2, ..."]


def test_a_failure_is_one_block_before_the_recap(shown: tuple[CallbackModule, list[str]]) -> None:
    plugin, lines = shown
    error = {"code": "not_drained", "hint": "Start the same playbook again."}
    plugin.v2_runner_on_failed(result(task("dr_barrier", "Set the barrier"), msg="3 partitions lag.", error=error))
    message = "Stopped in 'Set the barrier': 3 partitions lag. Nothing was changed by this attempt."
    plugin.v2_runner_on_failed(result(task("fail", "Fail with the reason"), msg=message))
    assert lines == [], "a rescue may repair it"
    plugin.v2_playbook_on_stats(Stats(failures=1))
    assert lines == [
        "FAILED: Set the barrier",
        "  found      3 partitions lag.",
        "  next step  Nothing was changed by this attempt. Start the same playbook again.",
        "  read more  docs/error-codes.md, not_drained",
        "localhost: ok 3, changed 1, failures 1, unreachable 0",
    ]


def test_the_block_of_a_loop_is_that_of_its_failed_item(shown: tuple[CallbackModule, list[str]]) -> None:
    plugin, lines = shown
    error = {"code": "no_authorizer", "hint": "Set authorizer.class.name."}
    items = [{"failed": False}, {"failed": True, "msg": "P has no authorizer.", "error": error}, {"skipped": True}]
    plugin.v2_runner_on_failed(result(task("dr_rights", "Grant"), msg="One or more items failed", results=items))
    plugin.v2_playbook_on_stats(Stats(failures=1))
    assert lines[:3] == [
        "FAILED: Grant",
        "  found      P has no authorizer.",
        "  next step  Set authorizer.class.name.",
    ]


@pytest.mark.parametrize(
    ("message", "error", "block"),
    [
        (
            'kafka_dr_confirm is "P", wanted "B": the applications move there. Start again with B.',
            {},
            {
                "found": 'kafka_dr_confirm is "P"',
                "wanted": '"B": the applications move there.',
                "next step": "Start again with B.",
                "read more": "docs/troubleshooting.md",
            },
        ),
        (
            "Task failed: The filter plugin 'switchback.kafka_dr.pair' failed: The inventory is not usable.\nNothing.",
            {},
            {
                "found": "The inventory is not usable.",
                "next step": "Nothing.",
                "read more": "docs/troubleshooting.md",
            },
        ),
        (
            "P->B: no topic Orders. B->P: no topic Orders. Run enable.",
            {},
            {
                "found": "P->B: no topic Orders. B->P: no topic Orders.",
                "next step": "Run enable.",
                "read more": "docs/troubleshooting.md",
            },
        ),
        # All problems of an inventory are findings.
        (
            "The inventory is not usable: A is unknown. Did you mean B? C is missing. Nothing was changed. See it.",
            {},
            {
                "found": "The inventory is not usable: A is unknown. Did you mean B? C is missing.",
                "next step": "Nothing was changed. See it.",
                "read more": "docs/troubleshooting.md",
            },
        ),
        # A hint in the message is the next step; what is between both belongs to what was found.
        (
            "Stopped in 'Observe it' (kafka_unreachable): No answer. One more fact. Check it. The state.",
            {"code": "kafka_unreachable", "hint": "Check it."},
            {
                "task": "Observe it",
                "found": "No answer. One more fact.",
                "next step": "Check it. The state.",
                "read more": "docs/error-codes.md, kafka_unreachable",
            },
        ),
    ],
)
def test_the_block_names_what_was_found_and_wanted_the_next_step_and_a_guide(
    message: str, error: dict[str, str], block: dict[str, str]
) -> None:
    assert _block(message, error) == block


def test_a_task_that_takes_long_has_a_line_until_the_next_task(
    shown: tuple[CallbackModule, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin, lines = shown
    monkeypatch.setattr(plugin, "get_option", {"slow": 10.0, "still": 0.01}.__getitem__)
    plugin.v2_playbook_on_task_start(task("dr_status_info", "Wait until it is drained"), is_conditional=False)
    until = time.monotonic() + 5
    while not lines and time.monotonic() < until:
        time.sleep(0.005)
    plugin.v2_playbook_on_stats(Stats(failures=0))
    assert lines[0] == "still Wait until it is drained (0 s)"


def test_a_failure_that_a_rescue_repaired_is_not_shown(shown: tuple[CallbackModule, list[str]]) -> None:
    plugin, lines = shown
    plugin.v2_runner_on_failed(result(task("dr_arrival_info", "Read the audit"), msg="It failed."))
    plugin.v2_playbook_on_stats(Stats(failures=0))
    assert lines == ["localhost: ok 3, changed 1, failures 0, unreachable 0"]


def test_the_line_about_the_applications_is_shown_before_the_audit_starts(
    shown: tuple[CallbackModule, list[str]],
) -> None:
    """The role shows it at the begin of the phase flows, and the audit may take longer than the move."""
    plugin, lines = shown
    text = "Applications run on B since 12:01:07 UTC (writes stood still 6.8 s, reads 8.1 s)"
    plugin.v2_playbook_on_task_start(task("dr_run", "Begin the phase flows"), is_conditional=False)
    steps = [("dr_run", "Compute the downtime"), ("debug", "Show since when the applications run")]
    for action, name in [*steps, ("dr_departure_info", "Verify that no group is at work")]:
        one = task(f"switchback.kafka_dr.{action}", name, "/roles/cutover/tasks/arrived.yml:5")
        plugin.v2_playbook_on_task_start(one, is_conditional=False)
        plugin.v2_runner_on_ok(result(one, changed=False, msg=text))
    audit = task(
        "switchback.kafka_dr.dr_audit", "Compare both clusters record by record", "/roles/verify/compare.yml:9"
    )
    plugin.v2_playbook_on_task_start(audit, is_conditional=False)
    assert lines[-2] == f"  {text}"
    assert lines[-1].endswith("Verify that no group is at work")
    tasks = document(ROOT / "roles/cutover/tasks/main.yml")[1]["block"]
    included = [one["ansible.builtin.include_tasks"] for one in tasks if "ansible.builtin.include_tasks" in one]
    # test_hooks.py: move.yml has the phase flows, and this has the line.
    assert included.index("move.yml") < included.index("audit.yml")


def test_a_run_that_fails_in_the_middle_ends_with_one_block_after_its_undo_and_its_report(
    shown: tuple[CallbackModule, list[str]],
) -> None:
    plugin, lines = shown
    hint = "Start the playbook again once the flow has caught up."
    found = "3 partitions are not fully replicated: Payments-4 (source end 1200, replicated 1188)"
    error = {"code": "not_replicated", "message": found, "hint": hint, "endpoint": "b:9092"}

    message = f"{found}, wanted none. {hint}"

    def run(action: str, name: str, failed: bool = False, **values: Any) -> None:
        one = task(action, name)
        plugin.v2_playbook_on_task_start(one, is_conditional=False)
        (plugin.v2_runner_on_failed if failed else plugin.v2_runner_on_ok)(result(one, **values))

    run("set_fact", "Begin the phase drain", changed=False)
    run("dr_drain", "Wait until everything is replicated", failed=True, msg=message, error=error)
    run("client_control", "Start the applications again", changed=True)
    text = f"Stopped in 'Wait until everything is replicated' (not_replicated): {message}"
    run("fail", "Fail with the reason and the next step", failed=True, msg=f"{text} The applications are back on P.")
    run("debug", "Show the report", msg=["UNDONE: the applications are back on P", "  report  /r/cutoff-B.html"])
    run("set_fact", "Clear the holder of the run", changed=False)
    plugin.v2_playbook_on_stats(Stats(failures=1))
    assert lines == [
        "drain           Wait until everything is replicated",
        "Start the applications again: changed",
        "  UNDONE: the applications are back on P",
        "    report  /r/cutoff-B.html",
        "FAILED: Wait until everything is replicated",
        f"  found      {found}",
        "  wanted     none.",
        f"  next step  {hint} The applications are back on P.",
        "  read more  docs/error-codes.md, not_replicated",
        "localhost: ok 3, changed 1, failures 1, unreachable 0",
    ]


RUN = {"id": "r1", "ended": False, "outcome": "failed", "stopped": {"writes": 1795416700.0}, "resume": "R", "undo": "U"}


@pytest.mark.parametrize(
    ("runs", "shows"),
    [
        ([RUN], True),
        ([RUN, {**RUN, "stopped": {}, "undo": ""}], True),
        ([{**RUN, "id": None}], False),
        ([RUN, {**RUN, "outcome": "completed"}], False),
        ([RUN, {**RUN, "outcome": "undone"}], False),
        ([RUN, {**RUN, "ended": True}], False),
        ([], False),
    ],
)
def test_the_last_lines_after_an_interruption_say_what_is_stopped_and_how_to_go_on(
    shown: tuple[CallbackModule, list[str]], runs: list[dict[str, Any]], shows: bool
) -> None:
    plugin, lines = shown
    for run in runs:
        plugin.v2_runner_on_ok(
            result(task("switchback.kafka_dr.dr_run", "Begin the phase drain"), changed=False, run=run)
        )
    plugin._interrupted(os.getpid() + 1)
    assert lines == []
    plugin._interrupted(os.getpid())
    assert bool(lines) == shows
    if shows and runs[-1] is RUN:
        at = time.strftime("%H:%M:%S", time.localtime(1795416700.0))
        assert lines == [
            "INTERRUPTED: the run r1 has not ended",
            f"  stopped    writes since {at}",
            "  resume     R",
            "  undo       U",
        ]
    elif shows:
        assert lines[1:] == ["  stopped    nothing yet", "  resume     R"]
