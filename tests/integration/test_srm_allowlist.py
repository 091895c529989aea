# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""srm_allowlist and srm_allowlist_info on the lab's srm-control, whose lists control a real MirrorMaker 2.

KAFKA_DR_TEST_SRM_LAB names a folder to keep the lab between sessions.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.switchback.kafka_dr.plugins.modules import srm_allowlist, srm_allowlist_info
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from lab.lab import Lab

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
SERVICE = "/api/v54/clusters/Cluster%201/services/streams_replication_manager"
PROPERTY = "streams.replication.manager.config"
SECRET = "lab-secure-store"
TOPIC, GROUP = "Payments", "settlement"
FLOWS = (
    "P->B.enabled=true|B->P.enabled=true|sync.group.offsets.enabled=true|emit.checkpoints.interval.seconds=1"
    "|sync.group.offsets.interval.seconds=1|offset.lag.max=0"
)


class Site:
    """Cloudera Manager and srm-control beside one cluster."""

    def __init__(self, cluster: dict[str, Any]) -> None:
        self.bootstrap_servers: str = cluster["bootstrap_servers"]
        self.command = [cluster["srm_control"]]
        self._url = cluster["cm_url"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(self._url + path, method=method)
        request.add_header("Authorization", "Basic " + base64.b64encode(b"admin:admin").decode())
        request.add_header("Content-Type", "application/json")
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=30) as answer:
            return json.loads(answer.read() or b"null")

    def run(self, command: str) -> None:
        """Run a command of the service to its end."""
        number = self.ask("POST", f"{SERVICE}/commands/{command}")["id"]
        ended = until(lambda: self.ask("GET", f"/api/v54/commands/{number}"), lambda found: not found["active"])
        assert ended["success"], ended

    def behave(self, **control: Any) -> None:
        """Set how srm-control behaves from now on."""
        self.ask("PUT", "/emulator/switches", {"control": control})

    def enable(self) -> None:
        """Enable both flows, as a user would in Cloudera Manager."""
        items = self.ask("GET", f"{SERVICE}/config")["items"]
        value = next(item["value"] for item in items if item["name"] == PROPERTY)
        if FLOWS not in value:
            items = [{"name": PROPERTY, "value": f"{value}|{FLOWS}"}]
            self.ask("PUT", f"{SERVICE}/config", {"items": items})
        self.run("deployClientConfig")
        self.run("restart")

    def create(self, topic: str) -> None:
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        for future in admin.create_topics([NewTopic(topic, 1, 1)]).values():
            try:
                future.result(30)
            except KafkaException as error:
                if error.args[0].name() != "TOPIC_ALREADY_EXISTS":
                    raise


def until(observe: Callable[[], Any], done: Callable[[Any], bool], seconds: float = 90) -> Any:
    deadline = time.monotonic() + seconds
    while not done(found := observe()):
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Site]]:
    """Both sites with both flows enabled, and the original on either cluster."""
    kept = os.environ.get("KAFKA_DR_TEST_SRM_LAB")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("srm")
    lab = Lab(folder, engine="srm", srm_refresh_seconds=2)
    try:
        lab.up()
        found = {alias: Site(cluster) for alias, cluster in lab.info()["clusters"].items()}
        for site in found.values():
            site.ask("DELETE", "/emulator/switches")
            site.create(TOPIC)
            site.enable()
        yield found
    finally:
        if not kept:
            lab.down(wipe=True)


@pytest.fixture
def b(sites: dict[str, Site]) -> Iterator[Site]:
    """B's site. The test's changes are reverted at the end."""
    yield sites["B"]
    sites["B"].ask("DELETE", "/emulator/switches")


def ran(site: Site, kind: str, flow: str, *entries: str, check: bool = False, **more: Any) -> dict[str, Any]:
    source, target = flow.split("->")
    one = {"kind": kind, "source": source, "target": target, "entries": list(entries)}
    one |= {key: more.pop(key) for key in (*one, "denied") if key in more}
    tool = {"command": site.command, "secret": SECRET, "wait_timeout": 60, "wait_sleep": 0.5}
    result = run_module(srm_allowlist, {"lists": [one], **tool, **more}, check)
    # The only row of one list.
    return {**next(iter(result.get("lists", [])), {}), **result}


def calls(result: dict[str, Any]) -> list[str]:
    """The calls of the tool, without the arguments that every call has."""
    return [" ".join(request["argv"][6:]) for request in result["requests"]]


# ---- the four topics


MATRIX = [
    ("B", "topics", "P->B", TOPIC),
    ("B", "groups", "P->B", GROUP),
    ("B", "reverse_checkpointed_topics", "P->B", f"B.{TOPIC}"),
    ("P", "topics", "B->P", TOPIC),
    ("P", "groups", "B->P", GROUP),
    ("P", "reverse_checkpointed_topics", "B->P", f"P.{TOPIC}"),
]


@pytest.mark.parametrize(("beside", "kind", "flow", "entry"), MATRIX)
def test_each_list_of_the_pair_is_maintained(
    sites: dict[str, Site], beside: str, kind: str, flow: str, entry: str
) -> None:
    ran(sites[beside], kind, flow, state="exact")
    planned = ran(sites[beside], kind, flow, entry, check=True)
    assert (planned["changed"], calls(planned)) == (True, ["--list"])
    result = ran(sites[beside], kind, flow, entry)
    assert (result["rc"], result["changed"], result["verified"]) == (0, True, True), result
    assert calls(result) == ["--list", f"--add {entry}", "--list"]
    assert (result["before"], result["after"]) == (
        {"allowed": [], "denied": []},
        {"allowed": [entry], "denied": []},
    )
    assert [row["name"] for row in planned["changes"]] == [row["name"] for row in result["changes"]]
    again = ran(sites[beside], kind, flow, entry)
    assert (again["changed"], again["verified"], calls(again)) == (False, True, ["--list"])


def test_all_lists_are_read_in_one_task(sites: dict[str, Site]) -> None:
    for beside, flow in (("B", "P->B"), ("P", "B->P")):
        source, target = flow.split("->")
        tool = {"command": sites[beside].command, "secret": SECRET}
        result = run_module(srm_allowlist_info, {"flows": [{"source": source, "target": target}], **tool})
        assert result["rc"] == 0, result
        assert [(row["kind"], row["known"], row["allowed"], row["denied"]) for row in result["lists"]] == [
            (kind, True, [entry], []) for _beside, kind, of, entry in MATRIX if of == flow
        ]


def test_the_lists_decide_which_records_are_replicated_and_which_offsets_exported(sites: dict[str, Site]) -> None:
    p, b = sites["P"], sites["B"]
    producer = Producer({"bootstrap.servers": p.bootstrap_servers})
    for number in range(20):
        producer.produce(TOPIC, str(number))
    assert producer.flush(30) == 0
    consumer = Consumer({"bootstrap.servers": p.bootstrap_servers, "group.id": GROUP, "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, 15)], asynchronous=False)
    consumer.close()
    flows = [{"source": "P", "target": "B"}]
    asked = {"flows": flows, "kinds": [], "offsets_of": [GROUP, "unknown"], "command": b.command, "secret": SECRET}
    found = until(
        lambda: run_module(srm_allowlist_info, asked)["offsets"],
        lambda rows: any(row["offset"] > 0 for row in rows[0]["committed_offsets"]),
    )
    assert [(row["topic"], row["partition"]) for row in found[0]["committed_offsets"]] == [(f"P.{TOPIC}", 0)]
    # Never more than was read. How much less is up to SRM.
    assert 0 < found[0]["committed_offsets"][0]["offset"] <= 15
    assert (found[1]["group"], found[1]["committed_offsets"], found[1]["error"]) == ("unknown", [], None)


def test_exact_also_maintains_the_denylist(b: Site) -> None:
    ran(b, "groups", "P->B", "a", "b", "x.*")
    result = ran(b, "groups", "P->B", GROUP, "b", state="exact", denied=["secret"])
    assert result["verified"], result
    assert (sorted(result["removed"]), result["denied_added"]) == (["a", "x.*"], ["secret"])
    assert calls(result)[1:-1] == ["--add-blacklist secret", "--remove a,x.*"]
    refused = ran(b, "groups", "P->B", "secret")
    assert refused["error"]["code"] == "srm_entry_denied"
    undone = ran(b, "groups", "P->B", "b", state="absent", denied=["secret"])
    assert (undone["verified"], undone["after"]) == (True, {"allowed": [GROUP], "denied": []})


# ---- other wordings, no effect, late effect


@pytest.mark.parametrize("wording", ["whitelist", "allowlist"])
def test_noise_and_other_wordings_are_read(b: Site, wording: str) -> None:
    b.behave(noise=True, wording=wording)
    assert ran(b, "groups", "P->B", "noisy")["verified"]
    assert ran(b, "groups", "P->B", "noisy", state="absent")["removed"] == ["noisy"]


def test_exit_code_0_without_an_effect_is_a_failure(b: Site) -> None:
    b.behave(apply=False)
    result = ran(b, "topics", "P->B", "Refunds", wait_timeout=2)
    assert (result["failed"], result["changed"], result["verified"]) == (True, False, False)
    assert "Missing: --add Refunds. Done: nothing." in result["msg"]


def test_a_new_topic_is_waited_for_until_it_is_discovered(b: Site, sites: dict[str, Site], tmp_path: Path) -> None:
    b.behave(discovery=True)
    name = f"new-{time.time_ns()}"
    early = ran(b, "topics", "P->B", TOPIC, name, wait_timeout=2)
    assert (early["error"]["code"], early["verified"]) == ("srm_list_differs", False)
    assert f"Missing: --add {name}." in early["msg"]
    # The topic is created when the tool is called to add it for the second time.
    adds, tool = tmp_path / "adds", tmp_path / "tool"
    tool.write_text(f'#!/bin/sh\ncase "$*" in *--add*) echo add >> {adds};; esac\nexec {b.command[0]} "$@"\n')
    tool.chmod(0o755)

    def create() -> None:
        until(lambda: adds.exists() and len(adds.read_text().splitlines()), lambda times: times >= 2)
        sites["P"].create(name)

    creating = threading.Thread(target=create)
    creating.start()
    try:
        result = ran(b, "topics", "P->B", TOPIC, name, command=[str(tool)])
    finally:
        creating.join()
    assert (result["rc"], result["verified"], result["added"]) == (0, True, [name]), result
    assert calls(result)[:3] == ["--list", f"--add {name}", "--list"]
    assert calls(result).count(f"--add {name}") >= 2
    b.behave(discovery=False)
    assert ran(b, "topics", "P->B", name, state="absent")["verified"]


# ---- refused


def test_a_reverse_list_that_is_refused_is_unknown(b: Site) -> None:
    b.behave(list_rc=3)
    entry = "B.other"
    result = ran(b, "reverse_checkpointed_topics", "P->B", entry)
    assert (result["rc"], result["verified"], result["before"], result["after"]) == (0, False, None, None)
    assert ran(b, "topics", "P->B", "other")["error"]["code"] == "srm_control_refused"
    b.behave(list_rc=0)
    seen = ran(b, "reverse_checkpointed_topics", "P->B", entry)
    assert (seen["changed"], seen["verified"]) == (False, True)
    assert ran(b, "reverse_checkpointed_topics", "P->B", entry, state="absent")["verified"]


@pytest.mark.parametrize(
    ("flow", "more", "code"),
    [
        ("p->B", {}, "srm_alias_unknown"),
        ("P->B", {"secret": None}, "srm_secret"),
        ("P->B", {"secret": "wrong-word"}, "srm_secret"),
        ("P->B", {"secret_env": "ANOTHER"}, "srm_secret"),
        ("P->B", {"command": ["/nowhere/srm-control"]}, "srm_control_missing"),
        ("P->B", {"bootstrap_servers": "127.0.0.1:1", "timeout": 1.0}, "srm_control_timeout"),
    ],
)
def test_a_refusal_of_the_tool_is_reported_clearly(b: Site, flow: str, more: dict[str, Any], code: str) -> None:
    result = ran(b, "topics", flow, TOPIC, **more)
    assert (result["failed"], result["changed"]) == (True, False)
    assert result["error"]["code"] == code, result["msg"]
    assert not [word for word in (SECRET, "wrong-word") if word in str(result)]


def test_a_runtime_without_reverse_checkpointing_is_an_error(b: Site) -> None:
    b.ask("PUT", "/emulator/switches", {"runtime": "7.3.1"})
    b.run("deployClientConfig")
    try:
        result = ran(b, "reverse_checkpointed_topics", "P->B", f"B.{TOPIC}")
        assert (result["error"]["code"], "7.3.2" in result["msg"]) == ("srm_control_old", True), result["msg"]
        assert ran(b, "topics", "P->B", TOPIC)["verified"]
    finally:
        b.ask("DELETE", "/emulator/switches")
        b.run("deployClientConfig")


# ---- through Ansible, including as packed for another host


@pytest.mark.parametrize("sent", [False, True])
def test_a_playbook_maintains_the_lists(b: Site, tmp_path: Path, sent: bool) -> None:
    ran(b, "groups", "P->B", "a", state="absent")
    flow = {"source": "P", "target": "B"}
    tasks = [
        {
            "switchback.kafka_dr.srm_allowlist": {"lists": [{"kind": "groups", **flow, "entries": ["a"]}]},
            "register": "first",
        },
        {"switchback.kafka_dr.srm_allowlist_info": {"flows": [flow], "kinds": ["groups"]}, "register": "seen"},
        {"ansible.builtin.assert": {"that": ["first.verified", "first.changed", "'a' in seen.lists[0].allowed"]}},
    ]
    play: dict[str, Any] = {"hosts": "localhost", "gather_facts": False, "tasks": tasks}
    play["module_defaults"] = {"group/switchback.kafka_dr.srm": {"command": b.command, "secret": SECRET}}
    # With an environment, Ansible packs the module and runs it separately, as on another host.
    play["environment"] = {"SENT": "1"} if sent else {}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"),
        "ANSIBLE_HOME": str(tmp_path / "ansible"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
    }
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    argv = [program, "-vvv", "-i", "localhost,", "-c", "local", "play.yml"]
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # Not even at this verbosity.
    assert SECRET not in done.stdout + done.stderr
    assert ("AnsiballZ" in done.stdout) == sent
