# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a draft inventory from what was observed on both clusters.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..engines.finding import DEFAULT, engine_inventory, inventories
from ..errors import DrError
from ..inventory.pair import derive_pair
from ..names import Naming, naming_of
from ..redaction import is_secret, looks_secret, secrets_of
from ..resources.topics import DEFAULT_LARGEST_RECORD
from .applications import application_section
from .draft import Draft, Item, Section
from .flows import flow_section, observed_naming, replica_sources
from .groups import GroupChoice, choose_groups
from .observations import ClusterObservation, PairObservation
from .topics import grouped, is_streams, largest_record, left_out_topics, replication_factor, topic_items
from .yaml_text import is_template

__all__ = ["build_draft", "is_ordinary", "lines", "problems_of"]

_HEAD = (
    "A draft of the inventory of this pair, as the playbook switchback.kafka_dr.discover read it from both clusters."
    " Answer each TODO, then save it as group_vars/all/kafka_dr.yml.",
    "Producers come from ACLs alone: confluent-kafka cannot ask brokers which clients write (DescribeProducers,"
    " KIP-664).",
)
_CLUSTER_KEYS = ("bootstrap_servers", "connect_url", "client", "admin_client", "connect_client")


def build_draft(given: Mapping[str, Any], observation: PairObservation) -> Draft:
    """The draft. ``given``: the variables of the user, without the prefix ``kafka_dr_``.

    If the inventory check refuses the draft, its problems become questions at the top.
    """
    draft = _draft(given, observation)
    problems = problems_of(draft)
    if not problems:
        return draft
    question = Section(todos=(f"the inventory check refuses this draft: {problems}",))
    return Draft((draft.sections[0], question, *draft.sections[1:]))


def problems_of(draft: Draft) -> str:
    """Why the inventory check refuses the draft; "": it passes."""
    try:
        derive_pair(draft.variables())
    except DrError as error:
        return error.message
    return ""


def lines(draft: Draft, problems: str, differences: Sequence[str] | None, unread: Sequence[str]) -> list[str]:
    """The result in a few lines.

    ``differences``: None without an inventory that could be compared. ``unread``: what could not be read.
    """
    variables = draft.variables()
    groups = variables["groups"] or []
    local = [group for group in groups if group.get("mode") == "local"]
    flows = variables.get("adopt") or {}
    texts = [
        f"The draft has {len(variables['topics'] or [])} topics, {len(groups) - len(local)} groups that move,"
        f" {len(local)} that stay, {len(flows)} flows to adopt, and {len(draft.todos())} TODOs.",
        f"The inventory check refuses it: {problems}" if problems else "It passes the inventory check.",
    ]
    if differences is not None:
        texts += [f"Drift: {text}" for text in differences]
    if differences == [] and not unread:
        texts.append("No drift from the inventory.")
    elif differences == []:
        texts.append(f"No drift in what could be read, but {'; '.join(unread)}")
    return texts


def _draft(given: Mapping[str, Any], observation: PairObservation) -> Draft:
    home, away = observation.clusters
    naming = observed_naming(observation, given.get("policy"), given.get("separator"))
    left_out = left_out_topics(home, naming, replica_sources(home, away.alias))
    topics = [name for name in sorted(home.topics) if name not in left_out]
    groups = choose_groups(observation, naming, topics, left_out)
    engine = engine_inventory(given.get("engine") or DEFAULT)
    own = _own_principals(given)
    sections = (
        Section(comments=_HEAD, todos=_unread(observation)),
        *_pair_sections(given, observation, naming),
        _flow_settings(given, observation, topics),
        _topic_section(observation, naming, topics, left_out),
        _group_section(observation, groups),
        application_section(observation, groups, topics, own),
        flow_section(observation, naming, topics, left_out, engine.refusals.adoption),
    )
    return Draft(tuple(section for section in sections if section is not None))


def _unread(observation: PairObservation) -> tuple[str, ...]:
    texts = [text for cluster in observation.clusters for text in cluster.unread]
    limited = [cluster.alias for cluster in observation.clusters if cluster.authorizer is not False]
    if limited:
        texts.append(
            f"{' and '.join(limited)} may have topics and groups that this login may not describe: Kafka leaves those"
            " out of its lists. Does the login have DESCRIBE on all of them?"
        )
    return tuple(texts)


def _own_principals(given: Mapping[str, Any]) -> set[str]:
    """The principals of the given logins, as far as their names show it."""
    clients = [cluster.get(key) or {} for cluster in given["clusters"].values() for key in ("client", "admin_client")]
    return {f"User:{client['sasl.username']}" for client in clients if client.get("sasl.username")}


def _pair_sections(given: Mapping[str, Any], observation: PairObservation, naming: Naming) -> list[Section]:
    sections = [Section("home", given["home"])]
    chosen = given.get("engine") or DEFAULT
    if chosen != DEFAULT:
        sections.append(Section("engine", chosen))
    for name, engine in inventories().items():
        if engine.site_keys and given.get(name):
            sections.append(_with_secrets(name, given[name], given))
    usual = naming_of()
    if naming.policy != usual.policy:
        sections.append(Section("policy", naming.policy))
    if naming.separator != usual.separator:
        sections.append(Section("separator", naming.separator))
    ids = {cluster.alias: cluster.cluster_id for cluster in observation.clusters}
    clusters = {
        alias: {
            **{key: cluster[key] for key in _CLUSTER_KEYS if cluster.get(key)},
            **({"cluster_id": ids[alias]} if ids[alias] else {}),
        }
        for alias, cluster in given["clusters"].items()
    }
    return [*sections, _with_secrets("clusters", clusters, given)]


def _with_secrets(variable: str, values: Mapping[str, Any], given: Mapping[str, Any]) -> Section:
    """A mapping whose secrets are replaced by references to variables."""
    secrets = secrets_of(given)
    items = []
    for key, value in values.items():
        names: list[str] = []
        masked = _masked(value, (variable, str(key)), secrets, names)
        todos = (f"set {', '.join(names)}, or name your own variables here. Passwords are never written.",)
        items.append(Item(masked, key=str(key), todos=todos if names else ()))
    return Section(variable, items=tuple(items))


def _masked(value: Any, path: tuple[str, ...], secrets: set[str], names: list[str]) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _masked(inner, (*path, str(key)), secrets, names) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(inner, (*path, str(index)), secrets, names) for index, inner in enumerate(value)]
    text = str(value)
    hidden = is_secret(path[-1]) or looks_secret(text) or is_template(text) or any(secret in text for secret in secrets)
    if not hidden or not isinstance(value, str):
        return value
    names.append("vault_" + "_".join("".join(c if c.isalnum() else "_" for c in part) for part in path))
    return "{{ " + names[-1] + " }}"


def _flow_settings(given: Mapping[str, Any], observation: PairObservation, topics: Sequence[str]) -> Section | None:
    if given.get("flow"):
        return _with_secrets("flow", given["flow"], given)
    factor, largest = replication_factor(observation, topics), largest_record(observation, topics)
    settings: dict[str, Any] = {} if factor is None else {"replication_factor": factor}
    comments: tuple[str, ...] = ()
    if largest > DEFAULT_LARGEST_RECORD:
        settings["source_settings"] = {"producer.override.max.request.size": str(largest)}
        comments = ("A topic accepts larger records than a producer sends by default. Compressed ones need more.",)
    return Section("flow", settings, comments=comments) if settings else None


def _topic_section(
    observation: PairObservation, naming: Naming, topics: Sequence[str], left_out: Mapping[str, str]
) -> Section:
    home, away = observation.clusters
    questions = {}
    for name in topics:
        if name.startswith("_"):
            questions[name] = "its name begins like that of an internal topic. Does an application use it?"
        elif name.endswith(("-changelog", "-repartition")):
            questions[name] = "is it internal to a Kafka Streams application? Then remove it."
    todos = ["remove the topics that do not move. A cutover moves all of them together."] if topics else []
    there = left_out_topics(away, naming, replica_sources(away, home.alias))
    only = [name for name in sorted(away.topics) if name not in there and name not in home.topics]
    if only:
        todos.append(f"only {away.alias} has {', '.join(only)}. If applications of this pair use them, add them.")
    after = [f"Left out on {home.alias}: {line}" for line in grouped(left_out)]
    after += [f"Left out on {away.alias}: {line}" for line in grouped(there)]
    items = tuple(topic_items(observation, topics, questions))
    return Section("topics", value=[], items=items, todos=tuple(todos), after=tuple(after))


def _group_section(observation: PairObservation, groups: Sequence[GroupChoice]) -> Section:
    home, away = observation.clusters
    items = tuple(item for choice in groups if (item := choice.item))
    after = [f"Left out on {home.alias}: {line}" for line in grouped({c.name: c.reason for c in groups if not c.item})]
    only = sorted(name for name in away.groups if name not in home.groups)
    staying = [name for name in only if not is_ordinary(name, away)]
    todos = [todo for choice in groups if not choice.item and not choice.reads for todo in choice.todos]
    if rest := [name for name in only if name not in staying]:
        todos.append(f"only {away.alias} has the groups {', '.join(rest)}. Do they belong to this pair?")
    if staying:
        after.append(f"Left out on {away.alias}: {', '.join(staying)}")
    return Section("groups", value=[], items=items, todos=tuple(todos), after=tuple(after))


def is_ordinary(name: str, cluster: ClusterObservation) -> bool:
    """Whether a group may belong to an application that can move."""
    if name.startswith(("connect-", "console-consumer-", "__", "kafka-dr-")):
        return False
    return not is_streams(name, cluster.groups[name], cluster.topics)
