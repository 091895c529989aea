# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One inventory describes the pair: checked as a whole, then converted to the pair that every role reads.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..engines.finding import DEFAULT, engine_inventory, engines, inventories
from ..engines.inventory import STEPS, Check, EngineInventory
from ..errors import DrError
from ..names import CONNECTORS, JOURNAL_TOPIC, POLICIES, STATE_TOPIC, Naming, flow_name, is_internal, naming_of
from ..redaction import without_forms
from ..resources.account_rights import ACCOUNTS
from ..resources.retention import without_retention
from ..schema import Key, check_mapping, is_set, nearest, printable, unquoted
from ..schema import names as split_names
from . import patterns
from .adoption import adopted_flow, check_adopt
from .applications import part_of
from .hooks import HOOK_KEYS, check_hook
from .parsed_values import VALUE_CHECKS, check_hosts, is_legal_topic, shared_endpoint_files
from .workloads import has_endpoint, workload_of, workload_problems

__all__ = ["RUN_VARIABLES", "cutover_order", "derive_pair", "variables"]

_ALIAS = re.compile(r"[A-Za-z0-9_-]+")
# As long as the longest planned outage: the log cleaner may keep only one offset-sync of each partition.
_WEEK_MS = 604_800_000

_VARIABLES: dict[str, Key] = {
    "policy": Key(default="default", choices=tuple(POLICIES)),
    "separator": Key(default="."),
    "home": Key(required=True),
    "run_on": Key(default="localhost"),
    "clusters": Key("dict", required=True),
    "topics": Key("list", required=True),
    "groups": Key("list", default=[]),
    "clients": Key("list", default=[]),
    "hooks": Key("list", default=[]),
    "journal_topic": Key(default=JOURNAL_TOPIC),
    "hold_retention": Key("flag", default=False),
    "flow": Key("dict", default={}),
    "adopt": Key("dict", default={}),
    "accounts": Key("dict", default={}),
}
# Variables of a run, not of the pair. They are listed to detect misspelt names.
RUN_VARIABLES = {
    "application": Key(),
    "to": Key(),
    "confirm": Key(),
    "type": Key(choices=("cutoff", "continuous")),
    "rights": Key(choices=("merge", "exact")),
    "fence": Key(choices=("auto", "acl", "none")),
    "fence_logins": Key("dict"),
    "report_dir": Key(),
    "discover_file": Key(),
    "discover_overwrite": Key("flag"),
    "lower": Key(choices=("auto", "fail", "lower", "keep")),
    "although_healthy": Key("flag"),
    "disaster_stop_timeout": Key("number"),
    "rescue_timeout": Key("number"),
    "rescue_stall": Key("number"),
    "ready_require": Key(choices=("none", "controlled", "disaster", "both")),
    "ready_accept": Key("names"),
    "ready_lag": Key("number"),
    "ready_expiry": Key("number"),
    "ready_age": Key("number"),
    "metrics_file": Key(),
    "rehearsal_type": Key(choices=("cutoff", "continuous")),
    "rehearsal_back": Key("flag"),
    "rehearsal_seconds": Key("number"),
    "rehearsal_rate": Key("number"),
    "rehearsal_principal": Key(),
    "rehearsal_client": Key("dict"),
    "rehearsal_dir": Key(),
    "drain_timeout": Key("number"),
    "max_downtime": Key("number"),
    "take_over": Key(),
    "drain_groups_timeout": Key("number"),
    "drain_groups_stall": Key("number"),
    "stop_timeout": Key("number", least=1),
    "restart_timeout": Key("number", least=1),
    "reason": Key(),
    "idle_settle": Key("number"),
    "topics_settle": Key("number"),
    "wait_for_applications": Key("number"),
    "member_timeout": Key("number"),
    "first_write_timeout": Key("number"),
    "enable_timeout": Key("number", least=1),
    "stall_timeout": Key("number"),
    "group_lag": Key(choices=("refuse", "reread")),
    "accept_skips": Key("names"),
    "accept_undeclared": Key("names"),
    "applications_on": Key(),
    "copy_again": Key("names"),
    "drop": Key("names"),
    "checkpoint_timeout": Key("number", least=1, most=600),
    "accept_foreign_writers": Key("names"),
    "accept_tail": Key("names"),
    "accept_expired": Key("names"),
    "accept_newer_keys": Key("names"),
    "salvage": Key(choices=("list", "export", "replay")),
    "salvage_into": Key(choices=("salvage", "original")),
    "audit": Key("flag", choices=("true", "false", "later")),
    "audit_dir": Key(),
    "audit_accept": Key("dict"),
    "audit_guarantee": Key(choices=("at_least_once", "exactly_once")),
    "audit_settle": Key("number"),
    "audit_timeout": Key("number", least=1),
    "spark_master": Key(),
    "spark_conf": Key("dict"),
    "spark_memory": Key(),
    "spark_jars": Key(),
    "spark_python": Key(),
}
# Stands for a required variable that is missing or has a wrong type.
_NOTHING: dict[str, Any] = {"dict": {}, "list": []}
# Values from this collection's set_stats: AWX passes them to the next job of a workflow as extra variables.
_RESULTS = ("verdict", "outcome", "active", "run", "ready_controlled", "ready_disaster")
_CLUSTER = {
    "bootstrap_servers": Key(required=True),
    "cluster_id": Key(),
    "client": Key("dict", default={}),
    "admin_client": Key("dict"),
}
_PATTERN_KEYS = {"match": Key(), "exclude": Key("words", default=[])}
_TOPIC_KEYS = {
    "name": Key(),
    **_PATTERN_KEYS,
    "application": Key(),
    "partitions": Key("int"),
    "replication_factor": Key("int"),
    "config": Key("dict", default={}),
}
_GROUP_KEYS = {
    "name": Key(),
    **_PATTERN_KEYS,
    "mode": Key(default="moved", choices=("moved", "local")),
    "topics": Key("words"),
}
# Principals of this collection and of the flows, and the `group.id` of the workers by alias.
_ACCOUNT_KEYS = {**dict.fromkeys(ACCOUNTS, Key()), "workers": Key("dict", default={})}
_FLOW_KEYS = {
    "replication_factor": Key("int"),
    "tasks_max": Key("int"),
    "syncs_compaction_lag_ms": Key("int", default=_WEEK_MS),
    "settings": Key("dict", default={}),
    "source_settings": Key("dict", default={}),
    "checkpoint_settings": Key("dict", default={}),
    "heartbeat_settings": Key("dict", default={}),
}
_CLIENT_KEYS = {
    "name": Key(required=True),
    "role": Key(required=True, choices=("producer", "consumer", "processor")),
    "topics": Key("words"),
    "group": Key(),
    "principal": Key(),
    "outputs": Key("words"),
    "transactional_ids": Key("words", default=[]),
    "hosts": Key(default="localhost"),
    "control": Key(default="command", choices=("command", "systemd", "tasks", "kubernetes")),
    "unit": Key(),
    "start": Key("words"),
    "stop": Key("words"),
    "tasks_file": Key(),
    "workload": Key("dict", default={}),
    "endpoint_file": Key(),
    "endpoint_template": Key(default="kafka.env.j2"),
    "endpoint_mode": Key(default="0640"),
    "become": Key("bool", default=False),
    "after": Key("words", default=[]),
}

# Variables that are a list, or one line of text with commas.
_NAME_LISTS = (
    *("accept_foreign_writers", "accept_skips", "accept_tail", "accept_expired", "accept_newer_keys"),
    *("accept_undeclared", "copy_again", "drop", "ready_accept"),
)
_LISTS = {"topics": _TOPIC_KEYS, "groups": _GROUP_KEYS, "clients": _CLIENT_KEYS, "hooks": HOOK_KEYS}


def variables() -> dict[str, Key]:
    """Every variable of the pair, including those of the engines."""
    sites = {name: Key("dict", default={}) for name, engine in inventories().items() if engine.site_keys}
    return {"engine": Key(default=DEFAULT, choices=engines()), **_VARIABLES, **sites}


def derive_pair(
    given: Mapping[str, Any],
    known: Mapping[str, Key] | None = None,
    hosts: Mapping[str, Sequence[str]] | None = None,
    resolved: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Check the ``kafka_dr_*`` variables (``given`` without that prefix) and return the pair derived from them.

    Raises ``inventory_invalid`` with every problem, so that one run shows all of them. ``known``: further valid
    variable names (those of roles). ``hosts``: groups of the Ansible inventory with their hosts, including ``all``;
    None: hosts of clients are not checked. ``resolved``: the topics and groups that patterns take, see
    ``patterns.expand``. None: they are not known yet.
    """
    problems = _unknown_variables(given, known or {})
    pair, wrong_types, broken = _of_right_types(given)
    problems += wrong_types + patterns.expand(pair, resolved)
    for needs, check in (*_CHECKS, *VALUE_CHECKS, *_engine_checks(pair["engine"])):
        if not broken & set(needs.split()):
            problems += check(pair)
    problems += _check_together(pair, broken, hosts or {})
    # Last, on the selected application only: a missing host of one application must not stop another one.
    problems += check_hosts(pair, hosts) if hosts is not None else []
    if problems:
        raise DrError(
            "inventory_invalid",
            "The inventory is not usable: "
            + " ".join(printable(without_forms(text)) for text in dict.fromkeys(problems)),
            "Nothing was changed. See the inventory reference in docs/inventory.md.",
        )
    return _derived(pair)


def _unknown_variables(given: Mapping[str, Any], known: Mapping[str, Key]) -> list[str]:
    accepted = [f"kafka_dr_{name}" for name in (*variables(), *RUN_VARIABLES, *_RESULTS, *known)]
    unknown = [name for name in (f"kafka_dr_{name}" for name in given) if name not in accepted]
    return [f'The variable "{name}" is unknown.{nearest(name, accepted)}' for name in unknown]


def _engine_checks(name: str) -> list[Check]:
    """Checks of the values of every engine, and of a pair with the engine ``name``."""
    values = [check for engine in inventories().values() for check in engine.value_checks()]
    return values + [(f"engine {needs}", check) for needs, check in engine_inventory(name).pair_checks()]


def _of_right_types(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], set[str]]:
    """The variables without values of a wrong type, the problems, and the names of incomplete variables."""
    pair: dict[str, Any] = {}
    problems: list[str] = []
    broken: set[str] = set()
    for name, key in {**variables(), **RUN_VARIABLES}.items():
        filled, found = check_mapping("kafka_dr", {name: given.get(name)}, {name: key})
        pair[name] = (_NOTHING.get(key.type, "") if key.required else key.default) if found else filled[name]
        broken |= {name} if found else set()
        problems += [
            text.replace('needs the key "', 'needs the key "kafka_dr_', 1).replace("kafka_dr.", "kafka_dr_", 1)
            for text in found
        ]
    found, lacking = _check_parts(pair)
    return pair, problems + found, broken | lacking


def _mappings(known: Mapping[str, EngineInventory]) -> dict[str, Mapping[str, Key]]:
    """Variables that map aliases to dictionaries, with the keys of these dictionaries. ``known``: all engines."""
    clusters = {**_CLUSTER, **{key: one for engine in known.values() for key, one in engine.cluster_keys.items()}}
    return {"clusters": clusters, **{name: engine.site_keys for name, engine in known.items() if engine.site_keys}}


def _check_parts(pair: dict[str, Any]) -> tuple[list[str], set[str]]:
    """Restrict ``pair`` to items whose keys have the right types. Return the problems and the variables with them."""
    mappings = _mappings(inventories())
    problems: dict[str, list[str]] = {name: [] for name in (*mappings, *_LISTS, "flow", "accounts")}
    for name, keys in mappings.items():
        checked = {str(key): check_mapping(f"kafka_dr_{name}.{key}", item, keys) for key, item in pair[name].items()}
        problems[name] = [text for value, found in checked.values() for text in found]
        problems[name] += [
            f"kafka_dr_{name} has the alias {key}, wanted a text.{unquoted(key)}"
            for key in pair[name]
            if not isinstance(key, str)
        ]
        pair[name] = {key: value for key, (value, found) in checked.items() if not found}
    for name, keys in _LISTS.items():
        items = [{"name": item} if name == "groups" and isinstance(item, str) else item for item in pair[name]]
        results = [_check_entry(f"kafka_dr_{name}[{index}]", item, keys) for index, item in enumerate(items)]
        pair[name] = [value for value, found in results if not found]
        problems[name] = [text for value, found in results for text in found]
    flow, problems["flow"] = check_mapping("kafka_dr_flow", pair["flow"], _FLOW_KEYS)
    pair["flow"] = check_mapping("", {}, _FLOW_KEYS)[0] if problems["flow"] else flow
    accounts, problems["accounts"] = check_mapping("kafka_dr_accounts", pair["accounts"], _ACCOUNT_KEYS)
    pair["accounts"] = check_mapping("", {}, _ACCOUNT_KEYS)[0] if problems["accounts"] else accounts
    return [text for found in problems.values() for text in found], {name for name in problems if problems[name]}


def _check_entry(where: str, item: Any, keys: Mapping[str, Key]) -> tuple[dict[str, Any], list[str]]:
    value, problems = check_mapping(where, item, keys)
    return value, problems or (patterns.entry_problems(where, value) if "match" in keys else [])


def _check_together(pair: dict[str, Any], broken: set[str], hosts: Mapping[str, Sequence[str]]) -> list[str]:
    """Check topics, groups and clients against each other, and restrict ``pair`` to one application."""
    problems = [text for needs, check in _LINKS if not broken & set(needs.split()) for text in check(pair)]
    whole = not problems and not broken & {"engine", "topics", "groups", "clients"}
    apart = part_of(pair, pair["application"] or None, pair["rights"] == "exact", hosts) if whole else []
    problems += apart or shared_endpoint_files(pair, hosts)
    return problems + (_contradictions(pair) if whole else [])


def _check_count(pair: Mapping[str, Any]) -> list[str]:
    count = len(pair["clusters"])
    return [] if count == 2 else [f"kafka_dr_clusters must have exactly two clusters, found {count}."]


def _check_home(pair: Mapping[str, Any]) -> list[str]:
    if pair["home"] in pair["clusters"]:
        return []
    hint = nearest(pair["home"], pair["clusters"])
    return [f'kafka_dr_home is "{pair["home"]}", which is not in kafka_dr_clusters.{hint}']


def _check_clusters(pair: Mapping[str, Any]) -> list[str]:
    clusters, separator = pair["clusters"], pair["separator"]
    problems = [
        f'The alias "{alias}" must consist of letters, digits, "-" and "_" and not contain the separator "{separator}":'
        " otherwise MirrorMaker 2 cannot separate alias and topic."
        for alias in clusters
        if not _ALIAS.fullmatch(alias) or (separator and separator in alias)
    ]
    for key in ("bootstrap_servers", "cluster_id"):
        values = [cluster[key] for cluster in clusters.values() if cluster[key]]
        if len(values) == 2 and values[0] == values[1]:
            problems.append(
                f'Both clusters have the same {key} "{values[0]}": a pair on one cluster would be a replication loop.'
            )
    return problems


def _check_policy(pair: Mapping[str, Any]) -> list[str]:
    """Refuse a policy whose start offsets the engine cannot set (R27)."""
    refused = engine_inventory(pair["engine"]).refusals.identity
    if not refused or not naming_of(pair["policy"]).starts_at_cut:
        return []
    return [f'kafka_dr_policy "{pair["policy"]}" cannot be used with kafka_dr_engine "{pair["engine"]}": {refused}.']


def _check_none(pair: Mapping[str, Any]) -> list[str]:
    return [] if pair["topics"] or pair["unresolved"] else ["kafka_dr_topics is empty: there is nothing to protect."]


def _check_twice(pair: Mapping[str, Any]) -> list[str]:
    return [
        f'kafka_dr_{kind} names "{name}" {count} times.'
        for kind in ("topics", "groups", "clients")
        for name, count in Counter(one["name"] for one in pair[kind]).items()
        if count > 1
    ]


def _check_topics(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    naming = naming_of(pair["policy"])
    for topic in pair["topics"]:
        name = topic["name"]
        if not is_legal_topic(name):
            problems.append(f'"{name}" is not a valid topic name.')
        elif is_internal(name):
            problems.append(f'The topic "{name}" is internal to Kafka, Connect or MirrorMaker 2 and cannot be moved.')
        elif name.startswith("."):  # ReplicationPolicy.isInternalTopic of Kafka 4.3, for any topics.exclude
            problems.append(
                f'The topic "{name}" begins with a dot: the replication policy never replicates such a topic.'
            )
        if topic["partitions"] < 1:
            problems.append(f'The topic "{name}" needs at least 1 partition, found {topic["partitions"]}.')
        alias, separator, _rest = name.partition(pair["separator"] or "\0")
        if separator and not naming.keeps_names and alias in pair["clusters"]:
            problems.append(
                f'The topic "{name}" begins with the alias "{alias}": MirrorMaker 2 treats it as a replica and'
                " does not replicate it. Choose other aliases."
            )
    return problems


def _check_hooks(pair: Mapping[str, Any]) -> list[str]:
    return [problem for hook in pair["hooks"] for problem in check_hook(hook)]


def _check_topics_of(pair: Mapping[str, Any]) -> list[str]:
    topics = [topic["name"] for topic in pair["topics"]]
    named = [(f'The group "{group["name"]}"', topic) for group in pair["groups"] for topic in group["topics"] or []]
    named += [
        (f'The client "{client["name"]}"', topic)
        for client in pair["clients"]
        for topic in [*(client["topics"] or []), *(client["outputs"] or [])]
    ]
    return [
        f'{where} names the unknown topic "{topic}".{nearest(topic, topics)}'
        for where, topic in named
        if topic not in topics
    ]


def _check_groups_of(pair: Mapping[str, Any]) -> list[str]:
    moved = [group["name"] for group in pair["groups"] if group["mode"] == "moved"]
    return [
        f'The client "{client["name"]}" needs a group from kafka_dr_groups, found "{client["group"]}".'
        f"{nearest(str(client['group']), moved)}"
        for client in pair["clients"]
        if client["role"] != "producer" and client["group"] not in moved
    ]


def _check_order(pair: Mapping[str, Any]) -> list[str]:
    names = [client["name"] for client in pair["clients"]]
    unknown = [
        f'The client "{client["name"]}" must start after the unknown client "{other}".{nearest(other, names)}'
        for client in pair["clients"]
        for other in client["after"]
        if other not in names
    ]
    circle = not unknown and cutover_order(pair["clients"]) is None
    return ['The "after" keys of kafka_dr_clients form a cycle.'] if circle else unknown


def _contradictions(pair: dict[str, Any]) -> list[str]:
    """Groups whose topics differ from those of their clients, if all these clients declare topics."""
    problems = []
    for group in pair["groups"]:
        readers = [client for client in pair["clients"] if client["group"] == group["name"]]
        if not group["topics"] or not readers or not all(client["topics"] for client in readers):
            continue
        declared, read = set(group["topics"]), {topic for client in readers for topic in client["topics"]}
        names = ", ".join(f'"{client["name"]}"' for client in readers)
        if declared != read:
            problems.append(
                f'The group "{group["name"]}" has the topics {", ".join(sorted(declared))}, its clients {names} read'
                f" {', '.join(sorted(read))}. Declare the same topics for both."
            )
    return problems


# The keys that each kind of control needs.
_NEEDED = {
    "command": ("start", "stop"),
    "systemd": ("unit",),
    "tasks": ("tasks_file",),
    "kubernetes": ("workload",),
}


def _check_control(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    for client in pair["clients"]:
        where = f'The client "{client["name"]}"'
        if client["outputs"] is not None and client["role"] != "processor":
            problems.append(f'{where} has outputs, which only a processor has: its role is "{client["role"]}".')
        needed = _NEEDED[client["control"]]
        problems += workload_problems(client) if client["workload"] else []
        problems += [
            f'{where} has control "{client["control"]}" and needs the key "{key}".' for key in needed if not client[key]
        ]
    return problems


# Each check with the variables that it needs without wrong types, as in VALUE_CHECKS.
_CHECKS: tuple[Check, ...] = (
    ("clusters", _check_count),
    ("clusters home", _check_home),
    ("separator", _check_clusters),
    ("engine policy", _check_policy),
    ("topics", _check_none),
    ("policy separator", _check_topics),
    ("", _check_hooks),
    ("engine policy clusters", check_adopt),
)
# Checks that part_of needs.
_LINKS: tuple[Check, ...] = (
    ("", _check_twice),
    ("topics", _check_topics_of),
    ("groups", _check_groups_of),
    ("clients", _check_order),
    ("", _check_control),
)


def cutover_order(clients: list[dict[str, Any]]) -> list[str] | None:
    """Client names in start order: each one comes after those in its ``after`` list. None: there is a cycle.

    The stop order is the reverse. Processors consume and produce, so the order between them matters.
    """
    waiting = {client["name"]: set(client["after"]) for client in clients}
    order: list[str] = []
    while waiting:
        ready = [name for name, after in waiting.items() if not after & set(waiting)]
        if not ready:
            return None
        order += ready
        for name in ready:
            del waiting[name]
    return order


def _group_topics(pair: dict[str, Any], names: list[str]) -> dict[str, list[str]]:
    """The originals that a group reads: as the inventory declares them, else the topics of its clients."""
    declared = {}
    for group in pair["groups"]:
        own = [client["topics"] for client in pair["clients"] if client["group"] == group["name"]]
        read = set(group["topics"] or [topic for topics in own for topic in topics])
        if read:
            declared[group["name"]] = [name for name in names if name in read]
    return declared


def _syncs(pair: dict[str, Any], naming: Naming, source: str, target: str) -> dict[str, Any]:
    """The offset-syncs topic of a flow, and the alias ``on`` which it is. Created before MirrorMaker 2 creates it.

    On the target it survives the loss of the source. Some engines have it on the source.
    """
    on_source = engine_inventory(pair["engine"]).capabilities.offset_syncs_on_source
    on, other = (source, target) if on_source else (target, source)
    config = {"cleanup.policy": "compact", "min.compaction.lag.ms": pair["flow"]["syncs_compaction_lag_ms"]}
    factor = pair["flow"]["replication_factor"]
    topic = {"name": naming.offset_syncs(other), "partitions": 1, "replication_factor": factor, "config": config}
    return {"on": on, "topic": topic}


def _journal(pair: dict[str, Any]) -> dict[str, Any]:
    """The journal topic: it never expires, and has as many replicas as the topic with most replicas."""
    factors = [topic["replication_factor"] for topic in pair["topics"] if topic["replication_factor"]]
    return {
        "name": pair["journal_topic"],
        "partitions": 1,
        "replication_factor": max(factors, default=None),
        "config": {"cleanup.policy": "delete", "retention.ms": -1, "retention.bytes": -1, "max.message.bytes": 8388608},
    }


def _copy_again_refused(engine: EngineInventory, naming: Naming) -> str:
    """Why ``enable`` cannot follow ``kafka_dr_copy_again``; empty: it can."""
    itself = f"with the policy {naming.policy}, enable finds the flow's start offsets itself. Remove the variable."
    return engine.refusals.copy_again or (itself if naming.starts_at_cut else "")


def _derived(pair: dict[str, Any]) -> dict[str, Any]:
    naming = naming_of(pair["policy"], pair["separator"])
    home = pair["home"]
    away = next(alias for alias in pair["clusters"] if alias != home)
    moved = [group["name"] for group in pair["groups"] if group["mode"] == "moved"]
    hold = is_set(pair["hold_retention"])
    topics = [without_retention(topic) for topic in pair["topics"]] if hold else pair["topics"]
    names = [topic["name"] for topic in topics]
    order = cutover_order(pair["clients"]) or []
    clients = sorted(pair["clients"], key=lambda client: order.index(client["name"]))
    application = pair["application"]
    engine = engine_inventory(pair["engine"])
    sites = [name for name, one in inventories().items() if one.site_keys]
    for alias, cluster in pair["clusters"].items():
        cluster["application"] = application
        cluster["engine"] = pair["engine"]
        cluster.update(dict.fromkeys(sites))
        if engine.site_keys:
            cluster[pair["engine"]] = engine.site(pair[pair["engine"]][alias])
        cluster["admin_client"] = cluster["client"] if cluster["admin_client"] is None else cluster["admin_client"]
    for client in clients:
        client["topics"] = list(client["topics"] or names)
        client["workload"] = workload_of(client)
        client["has_endpoint"] = has_endpoint(client)
    return {
        "name": "-".join(sorted(pair["clusters"])) + (f".{application}" if application else ""),
        "application": application,
        "engine": pair["engine"],
        # Task files of the role replication by moment; empty: the engine needs none at that moment.
        "engine_steps": {moment: engine.steps.get(moment, "") for moment in STEPS},
        "copy_again_refused": _copy_again_refused(engine, naming),
        # Why the engine does not support the playbook rebuild; empty: it does.
        "rebuild_refused": engine.refusals.rebuild,
        "policy": pair["policy"],
        "one_flow_at_a_time": naming.one_flow_at_a_time,
        "starts_at_cut": naming.starts_at_cut,
        "separator": pair["separator"],
        "home": home,
        "away": away,
        **{key: split_names(pair[key] or []) for key in _NAME_LISTS},
        "run_on": pair["run_on"],
        "journal": _journal(pair),
        # Connectors of a flow.
        "parts": list(CONNECTORS),
        # The value that kafka_dr_confirm must have before state is written on a cluster.
        "confirms": {alias: alias for alias in pair["clusters"]},
        "state": {**_journal(pair), "name": STATE_TOPIC, "config": {"cleanup.policy": "compact"}},
        "clusters": {alias: {"alias": alias, **cluster} for alias, cluster in pair["clusters"].items()},
        **{name: {alias: {"alias": alias, **site} for alias, site in pair[name].items()} for name in sites},
        "topics": topics,
        "partition_counts": {topic["name"]: topic["partitions"] for topic in topics},
        "patterns": pair["patterns"],
        "pattern_lines": patterns.pattern_lines(pair["patterns"], {"topics": names, "groups": moved}),
        "unresolved": pair["unresolved"],
        # Alias of the cluster that was listed for the patterns; None: their names are from the journal.
        "listed_on": pair["listed_on"],
        "hold_retention": hold,
        "groups": moved,
        "group_topics": _group_topics(pair, names),
        "local_groups": [group["name"] for group in pair["groups"] if group["mode"] == "local"],
        "clients": clients,
        "hooks": pair["hooks"],
        "accounts": pair["accounts"],
        "flow": pair["flow"],
        "adopt": {
            flow_name(*ends): found
            for ends in ((home, away), (away, home))
            if (found := adopted_flow(pair, *ends)) is not None
        },
        "flows": {
            flow_name(source, target): {
                "name": flow_name(source, target),
                "source": source,
                "target": target,
                **{key: pair["clusters"][target][key] for key in engine.cluster_keys},
                "replicas": {name: naming.replica(source, name) for name in names},
                "syncs": _syncs(pair, naming, source, target),
            }
            for source, target in ((home, away), (away, home))
        },
    }
