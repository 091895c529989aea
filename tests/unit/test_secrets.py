# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What looks like a secret is one, in every output (R44).

``KAFKA_DR_SEED`` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._bounded import last_lines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.properties import plan_lines, shown, shown_lines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.shapes import Property
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.planning import (
    DesiredConnector,
    masked,
    plan,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import Connector
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.validate import field_errors
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Change, Outcome
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.audit_plan import cluster_part
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.redaction import (
    HIDDEN,
    is_secret,
    redacted,
    secrets_of,
    without_secrets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.change_plan import (
    change_plan,
    change_plan_lines,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.support import bundle
from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import one_line
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.plugin_utils import local_run
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from kafka_dr_audit import masking
from kafka_dr_audit.errors import AuditError
from secret_words import HARMLESS, OAUTH, Option, found_in, options

SEED = int(os.environ.get("KAFKA_DR_SEED") or random.SystemRandom().randrange(1, 10**6))
OPTIONS = list(options(random.Random(SEED), 60))
NAME = "P->B.MirrorSourceConnector"
SPEC = ArgumentSpec(
    {"client": {"type": "dict", "default": {}}, "pair": {"type": "dict", "default": {}}, "number": {"type": "int"}}
)
Channel = Callable[[Option], str]


def of_module(work: Callable[[Any], Result], params: dict[str, Any], **more: Any) -> str:
    made = ModuleType("made")
    made.main = lambda: run(SPEC.create_module(), work, ("rows",))  # type: ignore[attr-defined]
    return json.dumps(run_module(made, params, **more), ensure_ascii=False)


def echoing(module: Any) -> Result:
    """A module that returns its client in every way."""
    client = module.params["client"]
    text = f"The broker refused {json.dumps(client)}, {client}"
    change = Change("connector", NAME, "update", dict.fromkeys(client, "old"), dict(client))
    return Result(
        outcomes=[Outcome(change, "done")],
        extra={"echo": client, "rows": [{"reason": text}], "text": text},
        requests=[{"api": "create", "config": client}],
        warnings=[text],
    )


def failing(module: Any) -> Result:
    values = " ".join(map(str, module.params["client"].values()))
    raise DrError("refused", f"Not accepted: {values}", f"See {values}.")


def crash(option: Option) -> str:
    """A module that ends with a stack: only the action plugin knows what was secret."""
    plugin = local_run.ActionModule.__new__(local_run.ActionModule)
    plugin._task = SimpleNamespace(args={"pair": {"clusters": {"P": {"client": {option.name: option.value}}}}})
    text = f"Traceback: ValueError: {option.value!r} {json.dumps(option.value)}"
    with pytest.MonkeyPatch.context() as patch:
        raw = {"module_stderr": text, "module_stdout": text, "exception": text, "msg": text, "failed": True}
        patch.setattr(plugin, "_run_anywhere", lambda _variables: dict(raw))
        return json.dumps(plugin._run_module({}))


def client_of(option: Option) -> dict[str, Any]:
    return {"client": {option.name: option.value, "sasl.username": "joe"}}


def of_bundle(option: Option) -> str:
    """An observation that holds the option itself, and texts with its value."""
    clusters = {"P": {**client_of(option), "bootstrap_servers": "p:9092"}}
    observed = {
        "connectors": {"connectors": [{"config": {option.name: option.value}}], "x": 1},
        "status": {"failed": True, "msg": f"refused: {option.value!r}"},
        "events": {"events": [f"wrote {json.dumps(option.value)}"]},
    }
    reports = {"cutoff-B.json": json.dumps({"schema": "switchback.kafka_dr/report/2", "text": option.value})}
    return json.dumps(bundle("B-P", "now", {"kafka_dr_clusters": clusters}, observed, reports))


def of_plan(option: Option) -> str:
    change = {
        "kind": "connector",
        "name": NAME,
        "action": "update",
        "before": {option.name: f"{option.value}x"},
        "after": {option.name: option.value},
    }
    made = change_plan({"kind": "enable", "pair": "B-P", "results": [{"changes": [change]}]})
    return json.dumps([made, change_plan_lines(made)])


def of_connector(option: Option) -> str:
    wanted = DesiredConnector(NAME, "source", "running", {option.name: option.value, "topics": "a"})
    before = Connector(NAME, "RUNNING", (), {option.name: f"{option.value}x", "topics": "a"})
    answer = {"configs": [{"value": {"name": option.name, "errors": [f"Invalid value {option.value}"]}}]}
    changes = [change.after for found in (None, before) for change in plan(wanted, found)]
    changes += [change.before for change in plan(wanted, before)]
    return json.dumps([changes, masked(wanted.config), field_errors(answer)])


def of_cloudera_manager(option: Option) -> str:
    value = option.value.replace("\n", "\\n")
    lines = Property.parse(None, {"name": "configs", "value": f"{option.name}={value}|a=1"})
    made = plan_lines(lines, {option.name: f"{value}x", "a": "2"})
    assert made is not None
    return json.dumps([shown(lines, lines.value), shown_lines(lines), made.change.before, made.change.after])


def of_inventory(option: Option) -> str:
    """Values of a wrong type, and an option where a dictionary is wanted."""
    alone = f"{option.name}={option.value}" if is_secret(option.name) else option.value
    clusters = {"P": {"client": alone, option.name: option.value, "bootstrap_servers": ["x"]}, "B": alone}
    try:
        derive_pair({"home": "P", "clusters": clusters, "topics": [], "engine": "connect"})
    except DrError as error:
        return json.dumps(error.as_dict())
    raise AssertionError("not refused")


def of_tools(option: Option) -> str:
    """Output of a hook, an application's command or srm-control, and an answer over HTTP."""
    text = f"{option.name}={option.value}\n" if is_secret(option.name) else f"read {option.value}\n"
    return "".join((last_lines(text, text), one_line(text), without_secrets(json.dumps({option.name: option.value}))))


def of_audit(option: Option) -> str:
    """The plan on disk has no secret, and the program shows none."""
    given = {"bootstrap_servers": "p:9092", "client": {f"java.{option.name.removeprefix('java.')}": option.value}}
    part, environment = cluster_part("P", given, "id")
    assert environment
    masking.remember({option.name: option.value})
    text = f"Spark failed: {option.value} {json.dumps(option.value)}"
    return json.dumps([part, AuditError("spark_failed", text).message, str(AuditError("spark_failed", text))])


CHANNELS: dict[str, Channel] = {
    "a result": lambda option: of_module(echoing, client_of(option), diff=True),
    "compressed rows": lambda option: of_module(echoing, client_of(option), expanded=True),
    "a nested client": lambda option: of_module(
        lambda module: Result(extra={"echo": module.params["pair"]}), {"pair": {"clusters": {"P": client_of(option)}}}
    ),
    "an error": lambda option: of_module(failing, client_of(option)),
    "arguments that are refused": lambda option: of_module(echoing, {**client_of(option), "number": "many", "no": 1}),
    "a dictionary as text": lambda option: of_module(echoing, {"client": json.dumps(client_of(option)["client"])}),
    "a stack": crash,
    "the support bundle": of_bundle,
    "the plan of a check run": of_plan,
    "a connector": of_connector,
    "Cloudera Manager": of_cloudera_manager,
    "a refused inventory": of_inventory,
    "another program": of_tools,
    "the audit": of_audit,
}


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_output_has_a_secret(channel: str, capfd: pytest.CaptureFixture[str]) -> None:
    for option in OPTIONS:
        output = CHANNELS[channel](option)
        captured = capfd.readouterr()
        assert found_in(output + captured.out + captured.err, option) == [], (SEED, option, output)


@pytest.mark.parametrize("name", OAUTH)
def test_the_options_of_logins_are_secret_in_both_programs(name: str) -> None:
    assert is_secret(name)
    assert masking.is_secret(name)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_name_of_a_file_a_class_or_an_address_is_shown(name: str) -> None:
    assert not is_secret(name)
    assert not masking.is_secret(name)


def test_both_programs_have_the_same_list() -> None:
    names = [option.name for option in OPTIONS]
    assert [is_secret(name) for name in names] == [masking.is_secret(name) for name in names]


# ---- what users need stays


def test_a_topic_or_group_is_no_option() -> None:
    variables = {
        "kafka_dr_topics": [{"name": "Tokens", "partitions": 3}, {"name": "user-secrets", "config": {"a": "b"}}],
        "kafka_dr_groups": ["token-service"],
    }
    journal = {
        "topics": {"Tokens": 3, "user-secrets": 1},
        "topic_ids": {"P": {"Tokens": "abcdef", "B.Tokens": "ghijkl"}},
        "left": {"token-service": {"Tokens": {"0": 7}}},
    }
    texts = ["Tokens: 5 records", "missing: P.Tokens: no leader", "token-service: idle"]
    shown_bundle = bundle("B-P", "now", variables, {"journal": {"journal": [journal, texts]}}, {})
    assert json.loads(shown_bundle["journal.json"]) == [journal, texts]
    assert secrets_of({**variables, **journal}) == set()
    # But an option beside others, and the plain word, stay secret.
    assert secrets_of({**variables, "aiven": {"P": {"token": "abc", "url": "x"}}}) == {"abc"}
    assert secrets_of({"topics": ["token"], "site": {"token": "abc"}}) == {"abc"}


def test_a_fencing_token_and_the_name_of_its_file_are_shown() -> None:
    guard = {"guard": {"token": {"journal": 17.5, "epoch": 3, "holder_generation": 1}}, "token_file": "/run/token"}
    assert redacted(guard) == guard
    assert secrets_of(guard) == set()


@pytest.mark.parametrize(
    "text",
    [
        "ssl.truststore.location=/etc/ca.pem",
        "sasl.oauthbearer.token.endpoint.url=https://login.example.com/token",
        "User:joe@EXAMPLE.COM",
        "http://c1:8083,http://c2:8083",
        "The consumer joe@host has 3 partitions",
        'The principal "User:flow" has no right: add --allow-principal User:flow',
    ],
)
def test_harmless_texts_are_shown(text: str) -> None:
    assert without_secrets(text) == text
    assert masking.masked(text) == text


def test_a_number_below_the_name_of_a_secret_is_hidden_and_not_searched_for() -> None:
    assert redacted({"sasl.password": 12}) == {"sasl.password": HIDDEN}
    assert secrets_of({"sasl.password": 12}) == set()
    output = of_module(lambda module: Result(extra={"offset": 3412}), {"client": {"sasl.password": 12}})
    assert '"offset": 3412' in output
    assert '"sasl.password": 12' not in output
