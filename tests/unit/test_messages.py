# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A message only states a cause or the leftovers of a run if the code knows it (tests/repository reads them all)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.http import PEER as CM
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.http import PEER as CONNECT
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, one_text, with_alias
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.advice import (
    begun_text,
    cutover_advice,
    failure_reason,
    stopped_text,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import (
    GroupState,
    Member,
    members_named,
    with_members,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import HttpClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka

# ---- files of clients

KAFKA_FILES = (
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.keystore.location",
    "ssl.crl.location",
    "sasl.kerberos.keytab",
)


@pytest.mark.parametrize("name", KAFKA_FILES)
def test_a_missing_file_of_a_kafka_client_is_named_as_such(name: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone.pem"
    with pytest.raises(DrError) as refused:
        Kafka("b1:9092", {"security.protocol": "SSL", name: str(gone)}, 1.0)
    assert refused.value.code == "client_file_missing"
    assert f'{name} of the client of Kafka at "b1:9092" is "{gone}": that file does not exist' in refused.value.message
    assert "on this controller" in refused.value.message
    assert "refused" not in refused.value.sentence()


@pytest.mark.parametrize("value", ["probe", ""])
def test_a_value_that_is_not_a_path_is_not_searched_as_a_file(value: str) -> None:
    Kafka("127.0.0.1:1", {"ssl.ca.location": value}, 1.0)


def test_an_unused_keytab_is_not_searched() -> None:
    client = {"sasl.kerberos.keytab": "/gone", "sasl.kerberos.min.time.before.relogin": 0}
    Kafka("127.0.0.1:1", client, 1.0)


def test_a_setting_that_the_client_library_refuses_is_not_reported_as_the_broker_s_refusal(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    with pytest.raises(DrError) as refused:
        Kafka("b1:9092", {"security.protocol": "SSL", "ssl.ca.location": str(tmp_path / "empty.pem")}, 1.0)
    assert 'The client of Kafka at "b1:9092" failed: create a Kafka client: ' in refused.value.message


@pytest.mark.parametrize("peer", [CONNECT, CM])
@pytest.mark.parametrize("key", ["ca_path", "client_cert", "client_key"])
def test_a_missing_file_of_a_rest_client_is_named_as_such(peer: Any, key: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone.pem"
    with pytest.raises(DrError) as refused:
        HttpClient(peer, "https://worker:8083", {key: str(gone)}, 1.0)
    assert refused.value.code == "client_file_missing"
    assert f"{peer.prefix}_client.{key} of the client of {peer.name}" in refused.value.message
    assert f'"{gone}": that file does not exist' in refused.value.message


# ---- the advice of a stopped cutover

P, B = "p1:9092", "b1:9092"


def stopped(**facts: Any) -> dict[str, Any]:
    failure = {"task": "Look at both flows", "message": "no", "error": {}, **facts.pop("failure", {})}
    base = {
        "failure": failure,
        "run": None,
        "passed": False,
        "outcome": "failed",
        "type": "cutoff",
        "from": "P",
        "to": "B",
        "clusters": {"P": {"bootstrap_servers": P}, "B": {"bootstrap_servers": B}},
        "journal": {},
    }
    return {**base, **facts}


def away(server: str) -> dict[str, Any]:
    return {"error": {"code": "kafka_unreachable", "endpoint": server}}


def test_a_refused_preflight_changed_nothing() -> None:
    assert cutover_advice(stopped()) == "Nothing was changed by this attempt."


def test_the_message_does_not_claim_whether_the_run_was_opened() -> None:
    text = cutover_advice(stopped(failure={"task": "Open the run in the journal"}))
    assert text == "No application was stopped, and no connector or committed offset was changed."


def test_a_planned_move_away_from_a_dead_cluster_suggests_the_disaster_failover() -> None:
    text = cutover_advice(stopped(failure=away(P)))
    assert "switchback.kafka_dr.failover_disaster with -e kafka_dr_to=B -e kafka_dr_confirm=B" in text
    undone = cutover_advice(stopped(failure=away(P), run="r", outcome="undone"))
    assert undone.startswith("The applications are back on P. If P is lost, start the playbook")


@pytest.mark.parametrize(
    "facts",
    [
        stopped(failure=away(B)),  # The cluster being entered is unreachable: no disaster failover goes there.
        stopped(failure={"error": {"code": "kafka_error", "endpoint": P}}),
        stopped(failure=away(P), type="disaster"),
        stopped(failure=away(P), run="r", passed=True),
    ],
)
def test_no_other_failure_suggests_the_disaster_failover(facts: dict[str, Any]) -> None:
    assert "failover_disaster" not in cutover_advice(facts)


def test_the_leftovers_of_a_run_follow_from_its_state() -> None:
    passed = stopped(run="r", passed=True)
    lost = {"ownership": {"code": "run_superseded", "message": 'The run "r" is not the current one.'}}
    overtaken = stopped(run="r", passed=True, failure={**passed["failure"], **lost})
    advice = 'The run "r" is not the current one. This playbook makes no more changes (run_superseded).'
    assert cutover_advice(overtaken) == advice
    assert cutover_advice(passed).startswith("The point of no return is passed. Start the same playbook again")
    undo = stopped(run="r", outcome="undo_failed", failure={"undo": "B is away."})
    end = "Remove its cause, then start the same playbook again."
    assert cutover_advice(undo) == f"The undo failed as well (B is away). Some applications may not run on P. {end}"
    undo["failure"]["restarted"] = True
    again = "The applications were started on P again."
    assert cutover_advice(undo) == f"The undo failed as well (B is away). {again} {end}"
    ends = "This playbook makes no more changes (run_superseded)."
    undone = stopped(run="r", outcome="undo_failed", failure={"undo": "Overtaken.", "overtaken": True})
    refused = stopped(run="r", failure={"error": {"code": "run_superseded"}, "undo": "Overtaken."})
    assert cutover_advice(undone) == cutover_advice(refused) == f"Overtaken. {ends}"
    assert cutover_advice(stopped(run="r", failure={"error": {"code": "run_superseded"}})) == ends


@pytest.mark.parametrize(
    ("kind", "stops"), [("cutoff", "api, then enrich, settlement"), ("continuous", "enrich, settlement, then api")]
)
def test_a_run_says_before_the_first_stop_how_to_go_on(kind: str, stops: str) -> None:
    roles = {"api": "producer", "enrich": "processor", "settlement": "consumer"}
    clients = [{"name": name, "role": role} for name, role in roles.items()]
    run = {"id": "r1", "type": kind, "from": "P", "to": "B", "pair": "B-P.team", "pnr": None}
    text = begun_text({"run": run, "clients": clients, "run_on": ""})
    start, team = "ansible-playbook switchback.kafka_dr.{} -i INVENTORY", "-e kafka_dr_application=team"
    resume = f"{start.format(f'failover_{kind}')} -e kafka_dr_to=B -e kafka_dr_confirm=B {team} resumes it."
    undo = f"{start.format('abandon')} -e kafka_dr_confirm=P {team} undoes it."
    assert text == (
        f"The run r1 stops {stops} on P. If it is interrupted, {start.format('status')} {team} shows what is stopped,"
        f" and {resume} Before the point of no return, {undo}"
    )
    # After the point of no return, it goes forward only. Without applications it stops none.
    assert begun_text({"run": {**run, "pnr": 1.0}, "clients": clients, "run_on": ""}).endswith(resume)
    assert begun_text({"run": run, "clients": [], "run_on": ""}).startswith("If it is interrupted")


def test_a_reason_in_a_completed_run_has_no_next_step() -> None:
    """A disaster failover continues without clients that could not be stopped: "start again" would be wrong advice."""
    error = DrError("client_failed", "1 of 1 applications failed (api): no host", "Look at the log.").as_dict()
    result = {"msg": "1 of 1 applications failed (api): no host Look at the log.", "error": error}
    assert failure_reason(result, "unknown") == "1 of 1 applications failed (api): no host"
    assert failure_reason({"msg": "it was away"}, "unknown") == "it was away"
    assert failure_reason({}, "unknown") == "unknown"


# ---- members

MEMBERS = tuple(Member(f"m{n}", f"app-{n}", f"/10.0.0.{n}", None) for n in range(5))


def test_members_are_named_by_client_and_host() -> None:
    text = members_named(GroupState("g", "STABLE", members=MEMBERS))
    assert text == "app-0 on 10.0.0.0 and app-1 on 10.0.0.1 and app-2 on 10.0.0.2 and 2 more"
    assert members_named(GroupState("g", "EMPTY")) == ""
    assert with_members({"g": "app-0 on h", "k": ""}) == "g (app-0 on h); k"


# ---- every message as it is printed


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (("It failed", "Start again."), "It failed. Start again."),
        (("It failed: no such file..", "Start again."), "It failed: no such file. Start again."),
        (("The topic is missing.", "The topic is missing. Create it."), "The topic is missing. Create it."),
        (("1 of 3: a, ...", ""), "1 of 3: a, ..."),
        (("", "Start again."), "Start again."),
        (("Why?", ""), "Why?"),
    ],
)
def test_a_text_has_one_full_stop_for_each_sentence_and_no_repeated_sentence(
    texts: tuple[str, ...], shown: str
) -> None:
    assert one_text(*texts) == shown
    assert DrError("c", *texts).sentence() == shown


def test_an_error_has_single_full_stops_even_if_only_its_message_is_shown() -> None:
    assert DrError("c", "It said: no..").message == "It said: no."


def test_an_address_is_shown_with_its_alias() -> None:
    clusters = {
        "P": {"bootstrap_servers": P, "connect_url": "http://w1:8083"},
        "B": {"bootstrap_servers": B, "srm": {"url": "https://cm:7183"}},
    }
    assert with_alias(f'Kafka at "{B}" did not answer.', B, clusters) == f'Kafka at "{B}" (B) did not answer.'
    text = with_alias('Kafka Connect at "http://w1:8083" refused.', "http://w1:8083", clusters)
    assert text == 'Kafka Connect at "http://w1:8083" (P) refused.'
    several = {"P": {"bootstrap_servers": P, "connect_url": "http://w1:8083, http://w2:8083"}}
    assert '"http://w2:8083" (P)' in with_alias('At "http://w2:8083".', "http://w2:8083", several)
    assert with_alias(text, "http://w1:8083", several) == text
    shared = {alias: {"strimzi": {"url": "https://api:6443", "namespace": alias}} for alias in ("P", "B")}
    assert with_alias('At "https://api:6443".', "https://api:6443", shared) == 'At "https://api:6443".'
    assert '"https://cm:7183" (B)' in with_alias('At "https://cm:7183".', "https://cm:7183", clusters)
    for endpoint in ("", "other:9092"):
        assert with_alias("no", endpoint, {**clusters, "odd": "text"}) == "no"


def test_a_stopped_cutover_shows_task_code_alias_and_advice_as_sentences() -> None:
    failure = {"task": "Stop", "message": f'Kafka at "{B}" did not answer', **away(B)}
    text = stopped_text(stopped(failure=failure))
    assert text == (
        f"Stopped in 'Stop' (kafka_unreachable): Kafka at \"{B}\" (B) did not answer."
        " Nothing was changed by this attempt."
    )
    assert stopped_text(stopped(failure={"message": "no."})).startswith("Stopped in 'Look at both flows': no. Nothing")
