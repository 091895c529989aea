# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract of every module: documented options, one shape of results and errors, and no secret in a result."""

from __future__ import annotations

import gc
import importlib
import json
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _module
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Change, Outcome
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.compressed import compress, expand, json_text
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import of_journal
from repository import modules, require_none
from yamls import parse_yaml

PACKAGE = "ansible_collections.switchback.kafka_dr.plugins"
NAMES = modules()
ALWAYS = {"changed", "changes", "requests"}


def module(name: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.modules.{name}")


@cache
def documented(name: str) -> dict[str, Any]:
    """The module's documentation with its fragments merged in, as ansible-doc does it."""
    doc = parse_yaml(module(name).DOCUMENTATION)
    options, attributes = dict(doc.get("options") or {}), dict(doc.get("attributes") or {})
    for fragment in doc.get("extends_documentation_fragment", []):
        file, _dot, part = fragment.removeprefix("switchback.kafka_dr.").partition(".")
        found = importlib.import_module(f"{PACKAGE}.doc_fragments.{file}").ModuleDocFragment
        text = parse_yaml(getattr(found, part.upper() or "DOCUMENTATION"))
        options |= text.get("options") or {}
        for key, value in (text.get("attributes") or {}).items():
            attributes[key] = {**value, **attributes.get(key, {})}
    return {**doc, "options": options, "attributes": attributes}


@cache
def spec(name: str) -> dict[str, Any]:
    """The options that ``main()`` passes to Ansible."""
    seen: list[ArgumentSpec] = []

    class EnoughError(Exception):
        pass

    def note(made: ArgumentSpec, supports_check_mode: bool = True) -> None:
        assert supports_check_mode
        seen.append(made)
        raise EnoughError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArgumentSpec, "create_module", note)
        with pytest.raises(EnoughError):
            module(name).main()
    return seen[0].options


def reported(option: dict[str, Any]) -> dict[str, Any]:
    """The parts on which documentation and argument spec must agree."""
    return {
        "type": option.get("type", "str"),
        "elements": option.get("elements"),
        "required": bool(option.get("required")),
        "default": option.get("default"),
        "choices": list(option.get("choices") or []),
        "suboptions": {
            key: reported(inner) for key, inner in (option.get("options") or option.get("suboptions") or {}).items()
        },
    }


def test_the_documentation_agrees_with_the_options() -> None:
    for name in NAMES:
        written = {key: reported(option) for key, option in documented(name)["options"].items()}
        options = {key: reported(option) for key, option in spec(name).items()}
        require_none(
            f"{name}: {key}: documented {written.get(key)}, in the spec {options.get(key)}"
            for key in written.keys() | options.keys()
            if written.get(key) != options.get(key)
        )


def test_the_examples_use_only_options_that_exist() -> None:
    require_none(
        f"{name}: {task['name']}: {key}"
        for name in NAMES
        for task in parse_yaml(module(name).EXAMPLES)
        for key in set(task.get(f"switchback.kafka_dr.{name}") or ()) - set(spec(name))
    )


def test_check_mode_and_results_are_documented() -> None:
    for name in NAMES:
        check = documented(name)["attributes"]["check_mode"]
        assert check["support"] == "full" or (check["support"] == "partial" and check["details"]), name
        rows = parse_yaml(module(name).RETURN)
        assert rows, name
        assert all({"description", "returned", "type"} <= set(row) for row in rows.values()), name


def _needed(options: dict[str, Any]) -> dict[str, Any]:
    """A value for each required option, and for those of its suboptions."""
    texts = {"list": [], "bool": True, "float": 0.0}
    return {
        key: _needed(one.get("options") or {})
        if one["type"] == "dict"
        else one.get("choices", [texts.get(one["type"], "x")])[0]
        for key, one in options.items()
        if one.get("required")
    }


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("dr_")])
def test_an_unknown_option_is_refused_by_name(name: str) -> None:
    result = run_module(module(name), {**_needed(spec(name)), "topcis": []})
    assert (result["failed"], result["rc"]) == (True, 1)
    assert "topcis" in result["msg"]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"event": "phase"}, "run"),
        ({"event": "pnr"}, "run"),
        ({"event": "ended"}, "run"),
        ({"event": "undoing"}, "run"),
        ({"event": "pnr", "run": "r1"}, "holder_generation"),
        ({"event": "undoing", "run": "r1"}, "holder_generation"),
        ({"event": "ended", "run": "r1"}, "holder_generation"),
        ({"event": "begun"}, "value of event must be one of"),
    ],
)
def test_an_event_of_a_run_needs_its_run(params: dict[str, Any], expected: str) -> None:
    result = run_module(module("dr_journal"), {"pair": {}, **params})
    assert result["failed"]
    assert expected in result["msg"]


@pytest.mark.parametrize(
    ("event", "data", "missing"),
    [("enabled", {}, "active"), ("started", {"type": "cutoff"}, "from, to"), ("phase", {"facts": {}}, "phase")],
)
def test_an_event_without_its_facts_is_refused_before_any_request(
    event: str, data: dict[str, Any], missing: str
) -> None:
    clusters = {"P": {"bootstrap_servers": "127.0.0.1:1"}}
    params = {"clusters": clusters, "pair": "B-P", "event": event, "data": data, "run": "r1"}
    result = run_module(module("dr_journal"), of_journal(params))
    assert result["error"]["code"] == "bad_option"
    assert f'"{event}" needs {missing} in data' in result["msg"]


# ---- one shape for every result


SPEC = ArgumentSpec({"client": {"type": "dict", "default": {}}})
DONE = Outcome(Change("topic", "T", "create", None, {"partitions": 3}), "done")
PLANNED = Outcome(DONE.change, "planned")
FAILED = Outcome(DONE.change, "failed", "no right")


def ended(work: Any, params: dict[str, Any] | None = None, diff: bool = False) -> dict[str, Any]:
    """The result of a module that does ``work``."""
    made = ModuleType("made")
    made.main = lambda: run(SPEC.create_module(), work)  # type: ignore[attr-defined]
    return run_module(made, params or {}, diff=diff)


@pytest.mark.parametrize(
    ("outcomes", "changed"), [([], False), ([DONE], True), ([PLANNED], True), ([FAILED], False), ([FAILED, DONE], True)]
)
def test_changed_covers_completed_and_planned_changes(outcomes: list[Outcome], changed: bool) -> None:
    result = ended(lambda _module: Result(outcomes=outcomes, extra={"seen": 1}))
    assert (result["changed"], result["failed"], result["rc"], result["seen"]) == (changed, False, 0, 1)
    assert set(result) >= ALWAYS
    assert [row["status"] for row in result["changes"]] == [outcome.status for outcome in outcomes]
    assert "diff" not in result


def test_a_diff_is_returned_only_on_request() -> None:
    result = ended(lambda _module: Result(outcomes=[DONE]), diff=True)
    assert result["diff"] == {"before": {"topic T": None}, "after": {"topic T": {"partitions": 3}}}


@pytest.mark.parametrize("kind", [DrError, Unreachable])
def test_an_error_has_data_and_a_sentence_and_reports_that_nothing_was_changed(kind: type[DrError]) -> None:
    def work(_module: Any) -> Result:
        raise kind("wrong_cluster", "It is another cluster.", "Correct it.", "p:9092")

    result = ended(work)
    assert (result["failed"], result["rc"], result["changed"], result["changes"]) == (True, 1, False, [])
    assert result["msg"] == "It is another cluster. Correct it."
    assert result["error"] == {
        "code": "wrong_cluster",
        "message": "It is another cluster.",
        "hint": "Correct it.",
        "endpoint": "p:9092",
    }


def test_a_failure_in_the_middle_keeps_completed_changes_and_observations() -> None:
    failure = DrError("not_replicated", "It stopped moving.")
    result = ended(lambda _module: Result(outcomes=[DONE], extra={"status": {"lag": 3}}, failure=failure))
    assert (result["failed"], result["changed"], result["status"]) == (True, True, {"lag": 3})
    assert result["error"]["code"] == "not_replicated"


def test_the_parameters_of_a_module_go_to_syslog_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible's own constructor writes them, on every host that has a syslog."""
    logged: list[str] = []
    monkeypatch.setattr(AnsibleModule, "log", lambda _self, text, log_args=None: logged.append(f"{text} {log_args}"))
    ended(lambda _module: Result(), {"client": {"sasl.username": "dr", "sasl.password": "hunter2secret"}})
    assert any("sasl.username" in text for text in logged)
    assert not [text for text in logged if "hunter2secret" in text]


def test_no_client_is_garbage_collected_in_its_own_callback() -> None:
    """librdkafka aborts the process in that case, so a module does no garbage collection at all."""
    assert ended(lambda _module: Result(extra={"collects": gc.isenabled()}))["collects"] is False
    assert gc.isenabled()


def test_warnings_are_returned(capfd: pytest.CaptureFixture[str]) -> None:
    result = ended(lambda _module: Result(warnings=["look at this"]))
    assert "look at this" in str(result.get("warnings", "")) + capfd.readouterr().err


def test_a_secret_in_a_free_form_dictionary_is_never_returned() -> None:
    def work(made: Any) -> Result:
        return Result(extra={"echo": dict(made.params["client"]), "text": "with hunter2 inside"})

    result = ended(work, {"client": {"sasl.password": "hunter2", "sasl.username": "joe"}})
    assert "hunter2" not in str(result)
    assert result["echo"]["sasl.username"] == "joe"


# ---- compressed rows


def compressing(work: Any, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a module that does ``work`` and compresses its return value ``rows``."""
    made = ModuleType("made")
    made.main = lambda: run(SPEC.create_module(), work, ("rows",))  # type: ignore[attr-defined]
    return run_module(made, params, expanded=False)


@pytest.mark.parametrize("password", ["hunter2", 'quo"ted', "zoë"])
def test_secrets_are_masked_in_compressed_rows_too(password: str) -> None:
    rows = [{"reason": f"refused with {password}", "offset": 12}]
    result = compressing(lambda _module: Result(extra={"rows": rows}), {"client": {"sasl.password": password}})
    assert isinstance(result["rows"], str)
    assert expand(result["rows"]) == [{"reason": "refused with ********", "offset": 12}]


def test_a_module_takes_compressed_rows_in_place_of_the_rows() -> None:
    rows = [{"topic": "Payments", "partition": 0}]
    given = {"client": {"rows": compress(json_text(rows))}}
    result = ended(lambda module: Result(extra={"seen": module.params["client"]["rows"]}), given)
    assert result["seen"] == rows


def test_a_result_repeats_an_option_only_if_it_is_short() -> None:
    rows = [{"topic": "Payments", "partition": number} for number in range(24_000)]
    arguments = compressing(lambda _module: Result(), {"client": {"rows": rows}})["invocation"]["module_args"]
    assert arguments["client"] == f"({len(json.dumps({'rows': rows}))} characters)"
    assert ended(lambda _module: Result(), {"client": {"a": "b"}})["invocation"]["module_args"]["client"] == {"a": "b"}


# ---- argument specs


def test_a_run_does_not_change_the_options_of_the_next_one() -> None:
    """Ansible writes suboptions into the default of their option, in place."""
    part = {"type": "dict", "default": {}, "options": {"names": {"type": "list", "elements": "str", "default": []}}}
    spec = ArgumentSpec({"part": part})
    with patch_module_args({}):
        assert spec.create_module().params["part"] == {"names": []}
    assert part["default"] == {}


def test_two_specs_are_merged_and_neither_is_changed() -> None:
    first = ArgumentSpec({"a": {"type": "str"}}, required_together=[("a", "b")])
    both = first.merge(ArgumentSpec({"b": {"type": "int"}}, required_together=[("b", "a")]))
    assert list(both.options) == ["a", "b"]
    assert both.rules["required_together"] == [("a", "b"), ("b", "a")]
    assert (list(first.options), first.rules["required_together"]) == (["a"], [("a", "b")])


def test_an_option_defined_twice_and_an_unknown_rule_are_programming_errors() -> None:
    with pytest.raises(ValueError, match="defined twice"):
        ArgumentSpec({"a": {}}).merge(ArgumentSpec({"a": {}}))
    with pytest.raises(ValueError, match="unknown rules"):
        ArgumentSpec({}, required_iff=[])


@pytest.mark.parametrize("part", ["kafka_options", "connect_options", "wait_options"])
def test_shared_options_are_new_each_time(part: str) -> None:
    make = getattr(_module, part)
    make().options["more"] = {}
    assert "more" not in make().options
