# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules with a tool that keeps lists: which calls they make, which outputs count, and how
failures are reported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.modules import srm_allowlist, srm_allowlist_info
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.unit.srm.tool import ListTool, program

HERE = "topics P B"
BACK = "reverse-checkpointed-topics B P"


def ran(tool: ListTool, *entries: str, check: bool = False, diff: bool = False, **more: Any) -> dict[str, Any]:
    one = {"kind": "topics", "source": "P", "target": "B", "entries": list(entries)}
    one |= {key: more.pop(key) for key in (*one, "denied") if key in more}
    params = {"command": [str(tool.path)], "wait_timeout": 0.6, "wait_sleep": 0.05, **more}
    result = run_module(srm_allowlist, {"lists": [one], **params}, check, diff)
    # The only row of one list.
    return {**next(iter(result.get("lists", [])), {}), **result}


def reverse(tool: ListTool, *entries: str, **more: Any) -> dict[str, Any]:
    return ran(tool, *entries, kind="reverse_checkpointed_topics", source="B", target="P", **more)


@pytest.fixture
def tool(tmp_path: Path) -> ListTool:
    return ListTool(tmp_path)


# ---- changes


def test_check_mode_lists_and_reports_the_planned_changes(tool: ListTool) -> None:
    result = ran(tool, "a", "b", check=True, diff=True)
    assert (result["rc"], result["changed"], result["verified"], tool.calls) == (0, True, False, ["--list"])
    assert result["added"] == ["a", "b"]
    assert (result["before"], result["after"]) == (
        {"allowed": [], "denied": []},
        {"allowed": ["a", "b"], "denied": []},
    )
    assert [change["status"] for change in result["changes"]] == ["planned", "planned"]
    assert result["diff"]["after"] == {
        "topics allowlist P->B a": {"present": True},
        "topics allowlist P->B b": {"present": True},
    }


def test_missing_entries_are_added_in_one_call_and_the_list_is_read_again(tool: ListTool) -> None:
    planned = ran(tool, "a", "b", check=True, diff=True)
    assert tool.calls == ["--list"]
    result = ran(tool, "a", "b", diff=True)
    assert (result["rc"], result["changed"], result["verified"]) == (0, True, True)
    assert tool.calls == ["--list", "--add a,b", "--list"]
    assert [request["rc"] for request in result["requests"]] == [0, 0, 0]
    assert result["diff"] == planned["diff"]
    assert (result["after"], result["added"]) == ({"allowed": ["a", "b"], "denied": []}, ["a", "b"])
    again = ran(tool, "a", "b")
    assert (again["changed"], again["verified"], again["changes"], tool.calls) == (False, True, [], ["--list"])


def test_exact_removes_in_one_call_and_changes_the_denylist_first(tool: ListTool) -> None:
    tool.set(lists={HERE: {"allowed": ["a", "x", "y"], "denied": ["z", "__.*"]}})
    result = ran(tool, "a", "b", state="exact", denied=["secret"])
    assert tool.calls == [
        "--list",
        "--add-blacklist secret",
        "--add b",
        "--remove x,y",
        "--remove-blacklist z",
        "--list",
    ]
    assert (result["added"], result["removed"]) == (["b"], ["x", "y"])
    assert (result["denied_added"], result["denied_removed"], result["kept"]) == (["secret"], ["z"], ["__.*"])
    assert (result["verified"], tool.state["lists"][HERE]) == (
        True,
        {"allowed": ["a", "b"], "denied": ["__.*", "secret"]},
    )
    assert ran(tool, "a", "b", state="exact", denied=["secret"])["changed"] is False


def test_absent_only_removes_existing_entries(tool: ListTool) -> None:
    tool.set(lists={HERE: {"allowed": ["a", "P.x"], "denied": []}})
    result = ran(tool, "P.x", "gone", state="absent")
    assert (result["removed"], tool.calls) == (["P.x"], ["--list", "--remove P.x", "--list"])
    assert ran(tool, "P.x", "gone", state="absent")["changed"] is False


def test_exact_without_entries_empties_the_list_only_with_an_explicit_option(tool: ListTool) -> None:
    tool.set(lists={HERE: {"allowed": ["a"], "denied": []}})
    assert ran(tool, entries=None, denied=[], state="exact")["changed"] is False
    assert ran(tool, state="exact")["removed"] == ["a"]
    assert "Neither entries nor denied" in ran(tool, entries=None)["msg"]


def test_each_list_has_its_own_subcommand(tool: ListTool) -> None:
    ran(tool, "P.g", kind="groups")
    reverse(tool, "P.Payments")
    assert {key: lists["allowed"] for key, lists in tool.state["lists"].items()} == {
        "groups P B": ["P.g"],
        BACK: ["P.Payments"],
    }


def test_a_covered_name_is_reported(tool: ListTool) -> None:
    tool.set(lists={HERE: {"allowed": ["Pay.*"], "denied": []}})
    accepted = ran(tool, "Payments", covered="accept")
    assert (accepted["changed"], accepted["verified"]) == (False, True)
    assert accepted["covered"] == [{"entry": "Payments", "by": "Pay.*"}]
    assert ran(tool, "Payments")["added"] == ["Payments"]


def test_each_list_has_a_row_and_an_error_does_not_hide_the_others(tool: ListTool) -> None:
    there = {"source": "P", "target": "B"}
    lists = [{**there, "kind": kind, "entries": [name]} for kind, name in (("topics", "a"), ("groups", "g"))]
    params = {"command": [str(tool.path)], "wait_timeout": 0.6, "wait_sleep": 0.05}
    result = run_module(srm_allowlist, {"lists": lists, **params})
    assert [(row["kind"], row["added"], row["verified"]) for row in result["lists"]] == [
        ("topics", ["a"], True),
        ("groups", ["g"], True),
    ]
    assert (result["changed"], result["verified"], len(result["changes"])) == (True, True, 2)
    again = run_module(srm_allowlist, {"lists": lists, **params})
    assert (again["changed"], again["verified"], len(again["requests"])) == (False, True, 2)

    tool.set(lists={HERE: {"allowed": [], "denied": ["a"]}})
    lists[1]["entries"] = ["h"]
    result = run_module(srm_allowlist, {"lists": lists, **params})
    assert (result["rc"], result["error"]["code"]) == (1, "srm_entry_denied")
    assert [row["verified"] for row in result["lists"]] == [False, True]
    assert [row["error"] and row["error"]["code"] for row in result["lists"]] == ["srm_entry_denied", None]
    assert (result["changed"], result["lists"][1]["added"]) == (True, ["h"])

    assert "No list is named" in run_module(srm_allowlist, {"lists": [], **params})["msg"]
    twice = run_module(srm_allowlist, {"lists": [lists[1], lists[1]], **params})
    assert twice["error"]["code"] == "srm_entries_invalid"
    assert "named twice" in twice["msg"]


# ---- refused before the tool is called


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"entries": ["B.Payments"]}, "looks like a replica"),
        ({"entries": ["a,b"]}, "comma"),
        ({"target": "P"}, "the same alias"),
        ({"kind": "reverse_checkpointed_topics", "source": "B", "target": "P", "entries": ["P__x"]}, 'mean "P.x"?'),
    ],
)
@pytest.mark.parametrize("check", [True, False])
def test_an_impossible_change_is_refused_before_a_call(
    tool: ListTool, params: dict[str, Any], expected: str, check: bool
) -> None:
    result = ran(tool, "Payments", check=check, **params)
    assert (result["error"]["code"], result["changed"], tool.calls) == ("srm_entries_invalid", False, [])
    assert expected in result["msg"]


def test_an_entry_that_the_denylist_excludes_is_an_error(tool: ListTool) -> None:
    tool.set(lists={HERE: {"allowed": [], "denied": ["Pay.*"]}})
    result = ran(tool, "Payments")
    assert (result["error"]["code"], tool.calls) == ("srm_entry_denied", ["--list"])
    assert [request["rc"] for request in result["requests"]] == [0]


# ---- exit code 0 does not prove success, and some refusals are temporary


def test_a_topic_that_is_discovered_later_is_added_later(tool: ListTool) -> None:
    tool.set(unknown={"new": 2})
    result = ran(tool, "new", wait_timeout=20)
    assert (result["rc"], result["verified"], result["added"]) == (0, True, ["new"])
    assert tool.calls == ["--list", *["--add new", "--list", "--list"] * 2, "--add new", "--list"]


def test_one_unknown_topic_does_not_prevent_the_others(tool: ListTool) -> None:
    tool.set(unknown={"new": 10**6})
    result = ran(tool, "a", "new", "b", "c")
    assert tool.calls[:7] == ["--list", "--add a,new,b,c", "--add a", "--add new", "--add b", "--add c", "--list"]
    assert (result["failed"], result["changed"], result["verified"]) == (True, True, False)
    assert result["error"]["code"] == "srm_list_differs"
    assert "Missing: --add new. Done: --add a, b, c." in result["msg"]
    assert "unknown topics ['new']" in result["msg"]
    assert (result["added"], result["after"]["allowed"]) == (["a", "b", "c"], ["a", "b", "c"])
    assert [(change["name"], change["status"]) for change in result["changes"] if change["error"]] == [
        ("P->B new", "failed")
    ]


def test_exit_code_0_without_effect_is_tried_again_and_then_an_error(tool: ListTool) -> None:
    tool.set(deaf=1)
    assert ran(tool, "a", wait_timeout=20)["verified"] is True
    tool.set(deaf=10**6)
    result = ran(tool, "b")
    assert (result["failed"], result["changed"], result["verified"]) == (True, False, False)
    assert "Missing: --add b. Done: nothing. srm-control exited with 0 each time." in result["msg"]
    assert "its list does not show the change" in result["changes"][0]["error"]


def test_a_list_that_is_truncated_after_a_change_is_read_again(tool: ListTool) -> None:
    # The first list, before the change, must be complete.
    tool.set(cut=1)
    assert ran(tool, "a")["error"]["code"] == "srm_list_unreadable"
    assert tool.calls == ["--list"]
    wrapper = program(
        tool.path.parent / "cuts",
        "import json, os, sys\nfrom pathlib import Path\n"
        f"file = Path({str(tool.path)!r} + '.json')\nstate = json.loads(file.read_text())\n"
        "if '--add' in sys.argv: file.write_text(json.dumps({**state, 'cut': state['next']}))\n"
        f"os.execv({str(tool.path)!r}, [{str(tool.path)!r}, *sys.argv[1:]])",
    )
    tool.set(next=1)
    result = ran(tool, "a", command=[str(wrapper)], wait_timeout=20)
    assert (result["verified"], tool.calls) == (True, ["--list", "--add a", "--list", "--list"])
    tool.set(next=10**6)
    result = ran(tool, "b", command=[str(wrapper)])
    assert (result["failed"], result["verified"], result["changed"]) == (True, False, True)
    assert "It is unknown whether" in result["msg"]
    assert tool.calls.count("--add b") == 1


# ---- a reverse list that cannot be shown


def test_a_reverse_list_that_cannot_be_shown_is_unknown(tool: ListTool) -> None:
    tool.set(no_list=["reverse-checkpointed-topics"])
    result = reverse(tool, "P.Payments")
    assert (result["rc"], result["changed"], result["verified"]) == (0, True, False)
    assert (result["before"], result["after"], result["added"]) == (None, None, ["P.Payments"])
    assert tool.calls == ["--list", "--add P.Payments"]
    assert tool.state["lists"][BACK]["allowed"] == ["P.Payments"]
    planned = reverse(tool, "P.Payments", check=True)
    assert (planned["changed"], planned["verified"]) == (True, False)
    assert reverse(tool, "P.Payments", state="exact")["error"]["code"] == "srm_list_unknown"


def test_a_plain_list_that_cannot_be_shown_is_an_error(tool: ListTool) -> None:
    tool.set(no_list=["topics"])
    result = ran(tool, "a")
    assert (result["error"]["code"], result["changed"]) == ("srm_control_unsupported", False)
    assert (tool.calls, [request["rc"] for request in result["requests"]]) == (["--list"], [2])


def test_a_release_without_reverse_checkpointing_is_an_error(tool: ListTool) -> None:
    tool.set(subcommands=["topics", "groups"])
    result = reverse(tool, "P.Payments")
    assert (result["error"]["code"], "7.3.2" in result["msg"]) == ("srm_control_old", True)


# ---- secrets and warnings


def test_a_result_never_has_the_secret(tmp_path: Path) -> None:
    path = program(
        tmp_path / "tool",
        "import os, sys; print(os.environ['MY_PASS'], file=sys.stderr); sys.exit(os.environ['MY_PASS'])",
    )
    params = {"command": [str(path)], "secret": "hunter2", "secret_env": "MY_PASS", "wait_timeout": 0.1}
    one = {"kind": "groups", "source": "P", "target": "B", "entries": ["g"]}
    result = run_module(srm_allowlist, {"lists": [one], **params})
    assert result["failed"]
    assert "hunter2" not in str(result)


def test_warnings_are_returned_to_the_user(tool: ListTool, capfd: pytest.CaptureFixture[str]) -> None:
    result = ran(tool, ".*Payments")
    assert "also matches replicas" in str(result.get("warnings", "")) + capfd.readouterr().err


# ---- reading


def info(tool: ListTool, **more: Any) -> dict[str, Any]:
    flows = [{"source": "P", "target": "B"}, {"source": "B", "target": "P"}]
    return run_module(srm_allowlist_info, {"flows": flows, "command": [str(tool.path)], **more})


def test_all_lists_of_both_flows_have_one_row_each(tool: ListTool) -> None:
    tool.set(lists={HERE: {"allowed": ["a"], "denied": ["z"]}, BACK: {"allowed": ["P.a"], "denied": []}})
    result = info(tool)
    rows = {(row["kind"], row["source"]): (row["known"], row["allowed"], row["denied"]) for row in result["lists"]}
    assert len(rows) == 6
    assert rows["topics", "P"] == (True, ["a"], ["z"])
    assert rows["reverse_checkpointed_topics", "B"] == (True, ["P.a"], [])
    assert rows["groups", "B"] == (True, [], [])
    assert (result["changed"], result["offsets"], tool.calls) == (False, [], ["--list"] * 6)


def test_a_reverse_list_that_cannot_be_shown_is_null(tool: ListTool) -> None:
    tool.set(no_list=["reverse-checkpointed-topics"])
    rows = [row for row in info(tool)["lists"] if row["kind"] == "reverse_checkpointed_topics"]
    assert [(row["known"], row["allowed"], row["denied"], row["error"]["code"]) for row in rows] == [
        (False, None, None, "srm_control_unsupported")
    ] * 2


def test_one_failure_fails_the_task_and_keeps_the_other_rows(tool: ListTool) -> None:
    tool.set(subcommands=["topics", "groups"])
    result = info(tool)
    assert (result["failed"], result["error"]["code"]) == (True, "srm_control_old")
    assert "2 of 6 reads failed" in result["msg"]
    assert sum(row["known"] for row in result["lists"]) == 4


def test_a_hanging_tool_is_not_called_for_the_next_list(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    path = program(tmp_path / "tool", f"import time; open({str(log)!r}, 'a').write('call\\n'); time.sleep(600)")
    flows = [{"source": "P", "target": "B"}] * 5
    result = run_module(srm_allowlist_info, {"flows": flows, "command": [str(path)], "timeout": 2.0})
    assert (result["error"]["code"], log.read_text()) == ("srm_control_timeout", "call\n")


def test_the_offsets_of_groups_are_returned(tmp_path: Path) -> None:
    path = program(
        tmp_path / "tool", "import sys\nif 'known' in sys.argv: print('P.a,0,3')\nif 'bad' in sys.argv: print('P.a,0,')"
    )
    params = {"flows": [{"source": "P", "target": "B"}], "kinds": [], "command": [str(path)]}
    result = run_module(srm_allowlist_info, {**params, "offsets_of": ["known", "other", "bad"]})
    assert [row["committed_offsets"] for row in result["offsets"]] == [
        [{"topic": "P.a", "partition": 0, "offset": 3}],
        [],
        None,
    ]
    assert (result["error"]["code"], result["lists"]) == ("srm_export_unreadable", [])
