# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R31: every task with an effect proves immediately before it that this controller still holds its run or lease."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _guard
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from repository import ROOT, document, files, modules, name

OURS = "switchback.kafka_dr."
GUARD = "{{ kafka_dr_guard }}"
MODULES = set(modules())
# Modules that change nothing that a controller could lose, each with its reason.
HARMLESS = {
    "dr_journal": "the journal itself: its events are fenced by the producer epoch and refused by turn",
    "dr_checkpoint": "takes a lease of its own and proves it before each commit",
    "dr_readiness": "reads, and keeps a record of what it saw that no decision about effects rests on",
    "dr_audit": "reads both clusters",
    "client_results": "waits on the controller for tasks that have proven it",
    "dr_run": "the journal refuses its events by turn; the rest is the record on the controller",
    "dr_report": "writes a file of this run on the controller",
    "dr_support_bundle": "writes an archive on the controller",
}
# Modules of Ansible that change nothing outside this process.
READS = {
    f"ansible.builtin.{name}"
    for name in (
        *("assert", "debug", "fail", "include_role", "include_tasks", "import_tasks", "meta", "ping", "set_fact"),
        *("import_playbook", "set_stats", "slurp", "stat"),
    )
}
# Tasks with modules of Ansible that change something and need no proof: (file, task): reason.
NO_PROOF = {
    ("roles/kafka_dr/tasks/discover.yml", "Create the folder of the draft"): "a folder on the controller",
    ("roles/kafka_dr/tasks/discover.yml", "Write the draft"): "a file on the controller",
    ("roles/verify/tasks/compare.yml", "Copy the audit program to the host"): "our own program",
    ("roles/rehearsal/tasks/step_count.yml", "Compare acknowledged records with processed records"): "reads",
    ("roles/rehearsal/tasks/step_load.yml", "Wait until the clients have written and read enough records"): "reads",
    (
        "roles/rehearsal/tasks/step_prepare.yml",
        "Write the definition of the clients",
    ): "the folder of this rehearsal, proven before",
    (
        "roles/rehearsal/tasks/step_prepare.yml",
        "Copy the client program to the host",
    ): "the folder of this rehearsal, proven before",
}
# What a task passes instead if the host of the effect cannot reach Kafka: a separate proof comes just before it.
ELSEWHERE = {
    "roles/clients/tasks/command.yml": "{{ clients_token if clients_place_far else kafka_dr_guard }}",
    "roles/clients/tasks/point.yml": "{{ clients_token if clients_far else kafka_dr_guard }}",
    "roles/replication/tasks/engine_srm_lists.yml": (
        "{{ kafka_dr_guard if replication_tool.host == inventory_hostname else {} }}"
    ),
    # A hook's command is not an application: no host stores a token for it.
    "roles/cutover/tasks/hook.yml": "{{ kafka_dr_guard | combine({'token': {}}) }}",
}
PROVES_FIRST = {name for name in ELSEWHERE if "hook" not in name}
KEYWORDS = {
    *("name", "when", "vars", "register", "loop", "loop_control", "block", "rescue", "always", "delegate_to", "become"),
    *(
        "ignore_unreachable",
        "ignore_errors",
        "changed_when",
        "failed_when",
        "check_mode",
        "diff",
        "no_log",
        "environment",
    ),
    *("until", "retries", "delay", "tags", "any_errors_fatal", "args", "module_defaults", "hosts", "gather_facts"),
    *("strategy", "tasks", "throttle", "run_once", "notify"),
}


def tasks_in(items: Any) -> Iterator[dict[str, Any]]:
    for item in items or []:
        yield item
        for part in ("block", "rescue", "always", "tasks"):
            yield from tasks_in(item.get(part))


def every_task() -> list[tuple[str, dict[str, Any] | None, dict[str, Any]]]:
    """The file, the previous task and the task, for all roles except the lab and for all playbooks."""
    found = []
    paths = [path for path in files("roles/*/tasks/*.yml", "playbooks/*.yml") if path.parts[-3] != "lab"]
    for path in paths:
        before = None
        for task in tasks_in(document(path)):
            found.append((name(path), before, task))
            before = task
    return found


def action(task: dict[str, Any]) -> str | None:
    names = [key for key in task if key not in KEYWORDS]
    assert len(names) <= 1, names
    return names[0] if names else None


def takes_guard(name: str) -> bool:
    module = importlib.import_module(f"ansible_collections.switchback.kafka_dr.plugins.modules.{name}")
    return "journal.guard" in module.DOCUMENTATION


def is_proof(task: dict[str, Any] | None) -> bool:
    return task is not None and (task.get(f"{OURS}dr_guard_info") or {}).get("guard") == GUARD


def unguarded(file: str, before: dict[str, Any] | None, task: dict[str, Any]) -> str | None:
    """The reason why this task could act for a superseded controller, or None if it cannot."""
    name = action(task)
    if name is None or name in READS:
        return None
    if not name.startswith(OURS):
        ok = is_proof(before) or (file, task["name"]) in NO_PROOF
        return None if ok else "no proof stands before it"
    short = name.removeprefix(OURS)
    if short.endswith("_info") or short in HARMLESS:
        return None
    if short == "client_control" and task[name]["clients"] == []:
        return None  # only connects to the host
    if short == "client_workload" and task.get("check_mode") is True:
        return None  # only reads
    passed = (task[name] or {}).get("guard")
    if file in ELSEWHERE and passed == ELSEWHERE[file]:
        return None if is_proof(before) or file not in PROVES_FIRST else "no proof stands before it"
    return None if passed == GUARD else f"guard is {passed!r}"


def test_every_module_either_takes_the_guard_or_changes_nothing_that_another_controller_could_own() -> None:
    with_effects = {name for name in MODULES if not name.endswith("_info")} - set(HARMLESS)
    assert {name for name in with_effects if not takes_guard(name)} == set()
    assert {name for name in HARMLESS if takes_guard(name)} == set()


def test_every_task_with_an_effect_passes_the_guard() -> None:
    tasks = every_task()
    assert len(tasks) > 250, "the files were not found"
    assert [
        f"{file}: {task['name']}: {reason}"
        for file, before, task in tasks
        if (reason := unguarded(file, before, task)) is not None
    ] == []
    used = {(file, task.get("name")) for file, _before, task in tasks}
    assert set(NO_PROOF) <= used, "an exception that is not needed any more"


def test_the_check_detects_a_task_without_the_guard() -> None:
    bare = {"name": "Stop", f"{OURS}connect_mirror": {"state": "stopped"}}
    assert unguarded("roles/x/tasks/main.yml", None, bare) == "guard is None"
    unit = {"name": "Stop", "ansible.builtin.systemd_service": {"name": "x"}}
    assert unguarded("roles/x/tasks/main.yml", bare, unit) == "no proof stands before it"


def test_the_owners_tasks_are_included_just_after_a_proof() -> None:
    tasks = list(tasks_in(document(ROOT / "roles" / "clients" / "tasks" / "owned.yml")))
    at = next(number for number, task in enumerate(tasks) if "block" in task)
    assert is_proof(tasks[at - 1])


def test_no_changing_admin_request_bypasses_the_guard() -> None:
    """Every changing method of the library is wrapped, so that a new caller cannot forget it."""
    admin = importlib.import_module("confluent_kafka.admin").AdminClient
    client = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._kafka.client")
    reads = re.compile(r"^(_|describe_|list_|poll|get_|offsets?_|set_sasl|cluster_id$)")
    assert {name for name in dir(admin) if not reads.match(name)} == set(client.CHANGES)
    assert all(getattr(client._GuardedAdmin, name) is not getattr(admin, name) for name in client.CHANGES)


@pytest.mark.parametrize("name", ["delete_topics", "create_acls", "alter_consumer_group_offsets"])
def test_after_a_refused_proof_no_admin_request_is_sent(name: str) -> None:
    client = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._kafka.client")
    kafka = client.Kafka("127.0.0.1:1", {}, 1.0)
    with _guard.owned(refuse), pytest.raises(DrError, match="overtaken"):
        getattr(kafka.admin, name)([])


def test_after_a_refused_proof_no_offset_is_committed() -> None:
    client = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._kafka.client")
    kafka = client.Kafka("127.0.0.1:1", {}, 1.0)
    with _guard.owned(refuse), pytest.raises(DrError, match="overtaken"):
        kafka.group_offsets.commit("g", {})


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH"])
def test_after_a_refused_proof_no_rest_call_is_sent(method: str) -> None:
    http = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._connect.http")
    calls = http.Transport("http://127.0.0.1:1", {}, 0.5)
    with _guard.owned(refuse), pytest.raises(DrError, match="overtaken"):
        calls.call(method, "/connectors/x")


@pytest.mark.parametrize("raises", [False, True], ids=["reported as a failed step", "raised as another error"])
def test_a_module_that_lost_its_run_fails_with_run_superseded(raises: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by a controller frozen at ``arrival``: its refusal was reported as ``connector_step_failed``."""
    guard = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._pair.journal.guard")
    result = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._module").Result

    def work(_module: Any) -> Any:
        with contextlib.suppress(DrError):
            _guard.require_ownership()
        failure = DrError("connector_step_failed", "stop P->B.MirrorSourceConnector: overtaken")
        if raises:
            raise failure
        return result(failure=failure)

    claim = SimpleNamespace(run="r", lease=None, require=lambda _state, _leases: refuse())
    hold(monkeypatch, claim, lambda: None)
    module = SimpleNamespace(params={"guard": {}}, check_mode=False)
    if raises:
        with pytest.raises(DrError, match=r"^overtaken"):
            guard.guarded(work)(module)
    else:
        assert guard.guarded(work)(module).failure.code == "run_superseded"


def test_a_journal_that_is_read_at_the_second_try_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """R35: a wait that repeats its step until the journal responds has lost nothing."""
    guard = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._pair.journal.guard")
    result = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._module").Result
    reads: list[int] = []

    def read() -> None:
        reads.append(1)
        if len(reads) == 1:
            raise Unreachable("kafka_unreachable", "The journal did not respond.")

    def work(_module: Any) -> Any:
        with contextlib.suppress(Unreachable):
            _guard.require_ownership()
        _guard.require_ownership()
        return result()

    hold(monkeypatch, SimpleNamespace(run="r", lease=None, require=lambda _state, _leases: None), read)
    assert guard.guarded(work)(SimpleNamespace(params={"guard": {}}, check_mode=False)).failure is None
    assert len(reads) == 2


def hold(monkeypatch: pytest.MonkeyPatch, claim: Any, read: Callable[[], None]) -> None:
    """Let the option ``guard`` be this claim, and ``read`` what reading the journal does."""
    guard = importlib.import_module(f"ansible_collections.{OURS}plugins.module_utils._pair.journal.guard")
    monkeypatch.setattr(guard.Held, "of", lambda _option: SimpleNamespace(claim=claim))
    monkeypatch.setattr(guard.Guard, "_connected", lambda _self: {})
    monkeypatch.setattr(guard.Guard, "_state", lambda _self, _kafkas: read())


def refuse() -> None:
    raise DrError("run_superseded", "overtaken")
