# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random mutations of a full inventory are refused by name, or are valid for every later reader of the pair.

``KAFKA_DR_SEED`` repeats a run, ``KAFKA_DR_MUTATIONS`` sets the number of mutations.
"""

from __future__ import annotations

import copy
import datetime
import os
import random
from collections.abc import Iterator
from posixpath import normpath
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.mirror import (
    FlowSpec,
    check_flow,
    check_settings,
    wanted_config,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import ClusterSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import (
    client_batches,
    client_call,
    laid_out,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import RUN_VARIABLES, derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import (
    CONNECTORS,
    naming_of,
    salvage_topic,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.connector_settings import (
    PRODUCER,
    left_open,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.schema import number
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.values import file_mode, heap_bytes
from effort import share

SEED = int(os.environ.get("KAFKA_DR_SEED") or random.SystemRandom().randrange(1, 10**6))
MUTATIONS = int(os.environ.get("KAFKA_DR_MUTATIONS") or share(800))

SECURE = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "u",
    "sasl.password": "p",
    "ssl.ca.location": "/etc/ca.pem",
}
FULL: dict[str, Any] = {
    "home": "P",
    "policy": "default",
    "separator": ".",
    "engine": "connect",
    "journal_topic": "kafka-dr-journal-internal",
    "clusters": {
        alias: {
            "bootstrap_servers": f"{alias.lower()}1:9092,{alias.lower()}2:9092",
            "cluster_id": f"id-{alias}",
            "connect_url": f"https://{alias.lower()}:8083",
            "client": dict(SECURE),
            "admin_client": dict(SECURE),
            "connect_client": {"url_username": "u"},
        }
        for alias in ("P", "B")
    },
    "topics": [
        {"name": "Payments", "partitions": 6, "replication_factor": 3, "config": {"retention.ms": 1000}},
        {"name": "orders.eu", "partitions": 1, "replication_factor": 3},
        {"match": r"invoices\..*", "exclude": [r".*\.test"], "replication_factor": 3},
    ],
    "groups": [
        {"name": "settlement", "mode": "moved", "topics": ["Payments"]},
        {"name": "probe", "mode": "local"},
        {"match": "audit-.*", "exclude": ["audit-test"], "topics": ["Payments"]},
    ],
    "clients": [
        {
            "name": "till",
            "role": "producer",
            "topics": ["Payments"],
            "principal": "User:till",
            "hosts": "app1",
            "start": ["up", "now"],
            "stop": ["down"],
            "endpoint_file": "/etc/till.env",
            "endpoint_mode": "0640",
            "become": True,
        },
        {
            "name": "settle",
            "role": "consumer",
            "group": "settlement",
            "topics": ["Payments"],
            "control": "systemd",
            "unit": "settle.service",
            "endpoint_file": "/etc/settle.env",
            "after": ["till"],
        },
    ],
    "hooks": [{"name": "dns", "when": "before", "phase": "start", "command": ["dns", "move"], "timeout": 5}],
    "flow": {
        "replication_factor": 3,
        "tasks_max": 4,
        "settings": {"offset.lag.max": 10},
        "source_settings": {"producer.override.linger.ms": 5, "transforms": None, "topics.exclude": "other"},
        "checkpoint_settings": {"groups.exclude": ["other"]},
        "heartbeat_settings": {"emit.heartbeats.interval.seconds": 1},
    },
    "drain_timeout": 300,
    "stop_timeout": "60",
    "checkpoint_timeout": 60,
    "accept_foreign_writers": ["Payments"],
    "accept_undeclared": ["nightly"],
    "drop": ["Returns", "closing"],
    "ready_accept": "",
    "run_on": "localhost",
    "to": "B",
    "applications_on": "P",
    "metrics_file": "/var/lib/kafka_dr.prom",
    "spark_memory": "2g",
    "spark_conf": {"spark.executor.memory": "1g"},
    "rehearsal_principal": "User:rehearsal",
    "rehearsal_client": {"sasl.username": "rehearsal"},
}
# What the clusters hold besides. Names that a mutation may make a pattern take.
FOUND = {
    "topics": {"Payments": 6, "orders.eu": 1, "invoices.eu": 3, "invoices.test": 3, "invoices_eu": 1},
    "groups": ["settlement", "audit-a", "audit-test"],
    "listed": "P",
}
HOSTS = {"all": ["app1", "app2"], "ungrouped": [], "web": ["app1", "app2"]}
# Names of settings that a flow must not have, or that may have only a few values.
SETTINGS = (
    *("value.converter", "header.converter", "transforms", "errors.tolerance", "source.consumer.isolation.level"),
    *("heartbeats.replication.enabled", "topics", "groups.exclude", "tasks.max", "source.admin.bootstrap.servers"),
    *("producer.override.bootstrap.servers", "source.consumer.auto.offset.reset", "topics.exclude", "unknown.one", ""),
    *PRODUCER,
    *("producer.enable.idempotence", "target.producer.acks", "source.consumer.interceptor.classes"),
)
ODD: tuple[Any, ...] = (
    *("", " ", "\n", "a\nb", "x" * 300, "ü", "*", "a,b", "P", "B", "Payments", "P.Payments", "__consumer_offsets"),
    *("nan", "-1", "9999", "User:*", "relative/path", "http://u:p@h:1", "h:99999", "/etc/till.env", "a_b", "orders_eu"),
    *("Payments.salvage", "orders_eu_salvage", "P_checkpoints_internal", "app1", "app2", "web", "ungrouped"),
    *("https://p:8083", "HTTPS://B:8083/", "x.prom", "/x.prom", "/x.txt", "1gb", "512m", "100m", "1024", "User:x"),
    *("settlement", "Pay.*", ".*", "false", "C", "User:a b", "/etc//till.env", "/etc/settle.env"),
    *(float("nan"), float("inf"), -1, 0, 2**70, 1.5, True, None, [], {}, [""], [5], [{}], {"x": {}}, {"group.id": "g"}),
    *(False, 83, datetime.date(2026, 1, 1), [datetime.date(2026, 1, 1)]),
)


# Places where a mutation may be accepted, written as `place` writes them. Every other mutation is refused.
MAY_BE_ACCEPTED = {
    "any text is right": """topics.N.match groups.N.match
        clients.N.name clients.N.hosts clients.N.unit clients.N.start.N clients.N.stop.N
        clients.N.principal clients.N.endpoint_file groups.N.name topics.N.name hooks.N.name hooks.N.command.N
        clusters.A.cluster_id clusters.A.connect_client.url_username clusters.A.client.sasl.username
        clusters.A.client.sasl.password clusters.A.client.ssl.ca.location clusters.A.admin_client.sasl.username
        clusters.A.admin_client.sasl.password clusters.A.admin_client.sasl.mechanism
        clusters.A.admin_client.ssl.ca.location clusters.A.client.sasl.mechanism journal_topic separator
        rehearsal_client.sasl.username spark_conf.spark.executor.memory run_on""",
    "optional, or repeated without harm": """accept_foreign_writers accept_foreign_writers.N ready_accept drop drop.N
        accept_undeclared accept_undeclared.N
        clients
        clients.N
        clients.N.after clients.N.after.N clients.N.become clients.N.endpoint_mode clients.N.start clients.N.stop
        clients.N.topics clients.N.topics.N groups groups.N groups.N.mode groups.N.topics groups.N.topics.N hooks
        topics.N.exclude topics.N.exclude.N groups.N.exclude groups.N.exclude.N
        hooks.N hooks.N.command hooks.N.on_error topics topics.N topics.N.config topics.N.config.retention.ms
        clusters.A.client clusters.A.admin_client clusters.A.connect_client clusters.A.client.security.protocol
        clusters.A.admin_client.security.protocol flow flow.source_settings
        flow.P.producer.override.linger.ms flow.settings
        flow.checkpoint_settings flow.heartbeat_settings rehearsal_client rehearsal_principal spark_conf spark_memory
        metrics_file to applications_on""",
    "a setting that excludes nothing declared, or that a worker alone can judge": """flow.P.topics.exclude
        flow.P.groups.exclude flow.P.groups.exclude.N flow.P.unknown.one""",
    "null, or the value that it has anyway": """flow.P.source.admin.bootstrap.servers flow.P.transforms
        flow.P.errors.tolerance flow.P.source.consumer.auto.offset.reset flow.P.producer.override.bootstrap.servers
        flow.P.heartbeats.replication.enabled flow.P.producer.override.acks
        flow.P.producer.override.interceptor.classes flow.P.producer.enable.idempotence flow.P.target.producer.acks
        flow.P.source.consumer.interceptor.classes""",
    "a number within its bounds": """topics.N.partitions topics.N.replication_factor flow.replication_factor
        flow.tasks_max drain_timeout stop_timeout checkpoint_timeout hooks.N.timeout flow.P.offset.lag.max
        flow.P.emit.heartbeats.interval.seconds""",
    "only the value that it had, its default, or an equal part": """home policy engine clusters clusters.A
        clusters.A.bootstrap_servers clusters.A.connect_url clients.N.role clients.N.control clients.N.group
        hooks.N.when hooks.N.phase""",
}
ACCEPTED = {place for places in MAY_BE_ACCEPTED.values() for place in places.split()}


def place(path: tuple[Any, ...]) -> str:
    """A path with N for an index, A for an alias and P for the settings of one or all connectors."""
    steps = ["N" if isinstance(step, int) else str(step) for step in path]
    if steps[0] == "clusters" and len(steps) > 1:
        steps[1] = "A"
    if steps[0] == "flow" and len(steps) > 2:
        steps[1] = "P"
    return ".".join(steps)


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in an inventory."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*at, key)
        yield from paths(child, (*at, key))


def mutated(rng: random.Random) -> tuple[dict[str, Any], str, str]:
    """A full inventory with one change, the change in words, and its place."""
    inventory = copy.deepcopy(FULL)
    path = rng.choice(list(paths(inventory)))
    holder: Any = inventory
    for step in path[:-1]:
        holder = holder[step]
    key = path[-1]
    action = rng.choice(("replace", "replace", "replace", "delete", "rename", "repeat"))
    if path[0] == "flow" and len(path) == 3 and rng.random() < 0.5:
        setting, value = rng.choice(SETTINGS), copy.deepcopy(rng.choice(ODD))
        holder[setting] = value
        return inventory, f"set {'.'.join(path[:2])} {setting} {value!r}", place((*path[:2], setting))
    if action == "replace":
        holder[key] = copy.deepcopy(rng.choice(ODD))
    elif action == "delete":
        del holder[key]
    elif action == "rename" and isinstance(holder, dict):
        holder[rng.choice((f"{key}s", str(key)[:-1] or "x", 5, "unknown"))] = holder.pop(key)
    elif isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    else:
        holder[key] = copy.deepcopy(rng.choice(list(holder.values())))
    return inventory, f"{action} {'.'.join(map(str, path))}", place(path)


def use(pair: dict[str, Any], given: dict[str, Any]) -> None:
    """Run everything that reads the pair after the inventory check, as far as it needs no cluster."""
    laid = laid_out(pair)
    files: dict[tuple[str, str], str] = {}
    for client in laid["clients"]:
        assert client["hosts"] in {*HOSTS["all"], *HOSTS, "localhost"}
        for host in HOSTS.get(client["hosts"]) or [client["hosts"]] if client["endpoint_file"] else []:
            assert files.setdefault((host, normpath(client["endpoint_file"])), client["name"]) == client["name"]
        assert file_mode(client["endpoint_mode"]) is not None
        assert client["endpoint_file"] is None or client["endpoint_file"].startswith("/")
        for action in ("start", "stop"):
            call = client_call(client, action, {client["name"]: "text"})
            assert client["control"] != "command" or all(isinstance(word, str) and word for word in call["argv"])
    client_batches(laid["clients"], {})
    naming = naming_of(pair["policy"], pair["separator"])
    for flow in laid["flows"].values():
        ends = [laid["clusters"][flow[end]] for end in ("source", "target")]
        clusters = [ClusterSpec(end["alias"], end["bootstrap_servers"], end["client"]) for end in ends]
        topics = tuple(topic["name"] for topic in pair["topics"])
        own = {part: pair["flow"][f"{part}_settings"] for part in CONNECTORS} | {"common": pair["flow"]["settings"]}
        spec = FlowSpec(clusters[0], clusters[1], topics, tuple(pair["groups"]), naming, settings=own)
        check_flow(spec, CONNECTORS, configured=True)
        check_settings(spec, CONNECTORS)
        assert not [text for part in CONNECTORS for text in left_open(part, wanted_config(spec, part))]
        assert not {salvage_topic(topic) for topic in topics} & {*topics, *flow["replicas"].values()}
        assert all(len(name) < 250 for name in flow["replicas"].values())
    assert pair["run_on"]
    assert pair["clusters"]["P"]["connect_url"] != pair["clusters"]["B"]["connect_url"]
    assert (given.get("metrics_file") or "/.prom").startswith("/")
    assert given.get("spark_memory") is None or heap_bytes(given["spark_memory"])
    assert (given.get("rehearsal_principal") or "User:x").startswith("User:")
    for name, key in RUN_VARIABLES.items():
        if key.type == "number" and given.get(name) is not None:
            assert number(given[name]) is not None


def names_taken(inventory: dict[str, Any], what: str) -> dict[str, Any] | None:
    """The pair with the names that its patterns take on the clusters; None: these names are refused."""
    refused: DrError | None = None
    pair: dict[str, Any] = {}
    try:
        pair = derive_pair(copy.deepcopy(inventory), hosts=HOSTS, resolved=FOUND)
    except DrError as error:
        refused = error
    if refused is not None:
        assert (refused.code, "\n" in refused.message) == ("inventory_invalid", False), (what, refused.message)
        return None
    assert not pair["unresolved"], what
    assert all(topic["partitions"] >= 1 for topic in pair["topics"]), what
    return pair


def test_every_mutation_is_refused_by_name_or_is_usable() -> None:
    rng = random.Random(SEED)
    derive_pair(copy.deepcopy(FULL), hosts=HOSTS)
    refused = 0
    for _number in range(MUTATIONS):
        inventory, what, where = mutated(rng)
        pair: dict[str, Any] | None = None
        code = message = ""
        try:
            pair = derive_pair(copy.deepcopy(inventory), hosts=HOSTS)
        except DrError as error:
            message, code = error.message, error.code
        except Exception as error:
            raise AssertionError(f"seed {SEED}: {what}: {type(error).__name__}: {error}") from error
        if pair is None:
            assert (code, "\n" in message) == ("inventory_invalid", False), (SEED, what, message)
            refused += 1
        else:
            assert where in ACCEPTED, (SEED, what)
            assert pair["unresolved"] or "match" not in str(inventory), (SEED, what)
            resolved = names_taken(inventory, f"seed {SEED}: {what}")
            for one in (pair, resolved):
                use(one or pair, inventory)
    print(f"seed {SEED}: {MUTATIONS} mutations, {refused} refused, {MUTATIONS - refused} can be used")
    assert 0.3 * MUTATIONS < refused < MUTATIONS


# What YAML reads from a text without quotes: 0123 and 1:23, 1.5, NO, yes, and dates.
UNQUOTED = (83, 1.5, False, True, datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12, 30))
# Places of FULL with a text that may as well be a number.
NUMBERS_TOO = {"stop_timeout", "spark_conf.spark.executor.memory"}


def texts(inventory: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The places of all texts."""
    for path in paths(inventory):
        if isinstance(at(inventory, path), str):
            yield path


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def problem(path: tuple[Any, ...], value: Any) -> str:
    """Why FULL with ``value`` at that place is refused. "": it is accepted."""
    inventory = copy.deepcopy(FULL)
    at(inventory, path[:-1])[path[-1]] = value
    try:
        derive_pair(inventory, hosts=HOSTS)
    except DrError as error:
        return error.message
    return ""


@pytest.mark.parametrize("path", [path for path in texts(FULL) if place(path) not in NUMBERS_TOO], ids=place)
def test_what_yaml_has_read_from_an_unquoted_text_is_refused_by_name(path: tuple[Any, ...]) -> None:
    name = next(step for step in reversed(path) if isinstance(step, str))
    for value in UNQUOTED:
        message = problem(path, value)
        assert "quote it" in message, (path, value, message)
        assert name in message, (path, value, message)


@pytest.mark.parametrize("path", [path for path in paths(FULL) if len(path) == 1], ids=place)
def test_a_variable_without_a_value_is_not_given(path: tuple[Any, ...]) -> None:
    without = {name: value for name, value in copy.deepcopy(FULL).items() if name != path[0]}
    expected: Any = None
    try:
        expected = derive_pair(without, hosts=HOSTS)
    except DrError as error:
        expected = error.message
    assert problem(path, None) == (expected if isinstance(expected, str) else "")
    if not isinstance(expected, str):
        assert derive_pair({**copy.deepcopy(FULL), path[0]: None}, hosts=HOSTS) == expected
