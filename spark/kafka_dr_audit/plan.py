# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the plan of an audit, which the role verify writes. docs/audit.md describes its schema.

A plan contains no secrets. Its key ``secrets`` names a file or an environment variable with a JSON object of client
properties.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .differences import KINDS
from .errors import AuditError
from .masking import remember

SCHEMA = "switchback.kafka_dr/audit-plan/2"
MODES = ("complete", "online", "disaster")
ISOLATIONS = ("read_committed", "read_uncommitted")
SIDES = ("source", "target")
GUARANTEES = ("at_least_once", "exactly_once")
VERDICTS = ("PROVEN", "REFUTED", "UNKNOWN")


@dataclass(frozen=True)
class Cluster:
    """One cluster of the plan."""

    alias: str
    cluster_id: str
    bootstrap_servers: str
    #: Properties of Java clients, secrets included.
    client: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class TopicSide:
    """The source or the target of a topic pair."""

    #: Cluster alias.
    cluster: str
    topic: str
    #: None: do not check the topic id.
    topic_id: str | None
    #: True: producers may write here, so records after the planned end are expected.
    live: bool

    def __str__(self) -> str:
        return f"{self.cluster}:{self.topic}"


@dataclass(frozen=True)
class PlannedRange:
    """Offsets [start, end) to compare. None: the log start offset, or the end offset when the audit runs."""

    start: int | None
    end: int | None


@dataclass(frozen=True)
class PlannedPartition:
    """One partition of a topic pair."""

    number: int
    source: PlannedRange
    target: PlannedRange
    replicated: int | None  # source offset before which the flow reports that it replicated everything; None: unknown
    stored: int | None = None  # source offset up to which the flow had stored its progress; None: none or unknown


@dataclass(frozen=True)
class CommittedOffsets:
    """The committed offsets of a group on one partition, on both clusters."""

    group: str
    partition: int
    #: ``source`` or ``target``: the side whose committed offset is right. The other one is judged.
    truth: str
    #: Committed offset on each side. None: the group has none.
    source: int | None
    target: int | None
    #: Committed offset on the judged side when the group left it earlier: it has read everything before. None: unknown.
    own: int | None = None

    @property
    def given(self) -> str:
        """The side whose committed offset is judged."""
        return "target" if self.truth == "source" else "source"

    def watched(self, name: str) -> set[int]:
        """Return the offsets of one side whose ranks are needed."""
        own = self.own if name == self.given else None
        return {offset for offset in (getattr(self, name), own) if offset is not None}


@dataclass(frozen=True)
class Topic:
    """One topic pair."""

    name: str
    source: TopicSide
    target: TopicSide
    #: ``complete``, ``online`` or ``disaster``.
    mode: str
    #: Isolation level for the source.
    isolation: str
    #: ``at_least_once`` or ``exactly_once``: the delivery guarantee of the flow.
    guarantee: str
    #: True: the flow transforms records, so they cannot be compared.
    transformed: bool
    #: True: the planned start is agreed, so earlier records are not a reason for UNKNOWN.
    baseline: bool
    #: True: the committed offsets are current. One below the log start offset will be reset, instead of having been
    #: overtaken by retention.
    fresh: bool
    #: Kinds of differences that do not refute.
    accept: tuple[str, ...]
    partitions: tuple[PlannedPartition, ...]
    committed_offsets: tuple[CommittedOffsets, ...]
    #: True: both ranges begin at the cut of the last move, and since then only the flow may have written to the target
    #: (R50). Another topic pair compares the records before the cut. Ranges without a start: the cut is unknown.
    from_cut: bool = False

    @property
    def partition_numbers(self) -> list[int]:
        """The numbers of all partitions."""
        return [partition.number for partition in self.partitions]

    @property
    def cut_known(self) -> bool:
        """True if the ranges of all partitions begin at a known cut."""
        starts = [side.start for partition in self.partitions for side in (partition.source, partition.target)]
        return self.from_cut and None not in starts


@dataclass(frozen=True)
class AuditPlan:
    """A parsed plan."""

    #: Id of the run that wrote the plan.
    run: str
    #: Name of the pair.
    pair: str
    #: Clusters by alias.
    clusters: Mapping[str, Cluster]
    topics: tuple[Topic, ...]
    #: By verdict, the next steps: ``text`` and ``command``.
    next_steps: Mapping[str, list[dict[str, str]]] = field(default_factory=dict)
    #: The plan as it was read.
    document: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)


def load(path: Path, environment: Mapping[str, str] | None = None) -> AuditPlan:
    """Read and parse a plan.

    Raises `AuditError` ``plan_unreadable``, ``plan_version``, ``plan_invalid`` or ``secrets_missing``.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AuditError("plan_unreadable", f"The plan {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise AuditError("plan_unreadable", f"The plan {path} is not JSON: {error}.") from error
    return parse(document, os.environ if environment is None else environment, path.parent)


def parse(document: Any, environment: Mapping[str, str], folder: Path = Path()) -> AuditPlan:
    """Parse a plan. ``folder``: the folder that relative paths of secrets refer to."""
    root = _Node(document, "plan")
    schema = root.text("schema")
    if schema != SCHEMA:
        raise AuditError(
            "plan_version",
            f'The plan has the schema "{schema}", but this audit reads "{SCHEMA}". '
            "Write the plan with the role verify of the same release.",
        )
    clusters = {alias: _cluster(alias, node, environment, folder) for alias, node in root.node("clusters").members()}
    topics = tuple(_topic(node, clusters) for node in root.items("topics"))
    if not topics:
        raise AuditError("plan_invalid", "The plan names no topic, so there is nothing to prove.")
    steps = _next_steps(_Node(root.mapping("next", {}), "plan.next"))
    root.finish("run", "pair")
    return AuditPlan(root.text("run"), root.text("pair"), clusters, topics, steps, document)


def _next_steps(node: _Node) -> dict[str, list[dict[str, str]]]:
    steps: dict[str, list[dict[str, str]]] = {verdict: [] for verdict in VERDICTS}
    for verdict in VERDICTS:
        for item in node.items(verdict, ()):
            steps[verdict].append({key: item.text(key) for key in ("text", "command")})
            item.finish()
    node.finish()
    return steps


def _cluster(alias: str, node: _Node, environment: Mapping[str, str], folder: Path) -> Cluster:
    client = {name: str(value) for name, value in node.mapping("client", {}).items()}
    secrets = node.mapping("secrets", {})
    if secrets:
        client |= _secrets(secrets, environment, folder, node.where)
    remember(client)
    node.finish("cluster_id", "bootstrap_servers")
    return Cluster(alias, node.text("cluster_id"), node.text("bootstrap_servers"), client)


def _secrets(where: Mapping[str, Any], environment: Mapping[str, str], folder: Path, place: str) -> dict[str, str]:
    if set(where) == {"env"}:
        name = f"the environment variable {where['env']}"
        text = environment.get(str(where["env"]))
        if text is None:
            raise AuditError("secrets_missing", f"{place} takes its secrets from {name}, which is not set.")
    elif set(where) == {"file"}:
        path = folder / str(where["file"])
        name = f"the file {path}"
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise AuditError("secrets_missing", f"{place}: {name} cannot be read: {error.strerror}.") from error
    else:
        raise AuditError("plan_invalid", f'{place}: "secrets" must have exactly one of the keys "env" and "file".')
    try:
        found = json.loads(text)
        if not isinstance(found, dict):
            raise ValueError("not an object")
    except ValueError:
        # The parser's own message would quote the text.
        raise AuditError("secrets_missing", f"{place}: {name} does not hold a JSON object.") from None
    return {str(key): str(value) for key, value in found.items()}


def _topic(node: _Node, clusters: Mapping[str, Cluster]) -> Topic:
    name = node.text("name")
    source, target = _side(node.node("source"), clusters), _side(node.node("target"), clusters)
    partitions = tuple(_partition(item) for item in node.items("partitions"))
    numbers = [partition.number for partition in partitions]
    if sorted(numbers) != list(range(len(numbers))) or not numbers:
        raise node.wrong(f"partitions must have the numbers 0 to n-1, each once; found {sorted(numbers)}")
    committed_offsets = tuple(_committed_offset(item, len(numbers)) for item in node.items("committed_offsets", ()))
    accept = tuple(str(kind) for kind in node.value("accept", list, []))
    unknown = sorted(set(accept) - set(KINDS))
    if unknown:
        raise node.wrong(f'"accept" names {unknown[0]!r}; the kinds are {", ".join(KINDS)}')
    topic = Topic(
        name,
        source,
        target,
        node.choice("mode", MODES),
        node.choice("isolation", ISOLATIONS, "read_committed"),
        node.choice("guarantee", GUARANTEES, "at_least_once"),
        node.value("transformed", bool, False),
        node.value("baseline", bool, False),
        node.value("fresh", bool, True),
        accept,
        partitions,
        committed_offsets,
        node.value("from_cut", bool, False),
    )
    node.finish()
    return topic


def _side(node: _Node, clusters: Mapping[str, Cluster]) -> TopicSide:
    alias = node.text("cluster")
    if alias not in clusters:
        raise node.wrong(f"the cluster {alias!r} is not one of {', '.join(clusters) or 'none'}")
    side = TopicSide(alias, node.text("topic"), node.value("topic_id", str, None), node.value("live", bool, False))
    node.finish()
    return side


def _partition(node: _Node) -> PlannedPartition:
    partition = PlannedPartition(
        node.value("partition", int),
        _range(node.node("source")),
        _range(node.node("target")),
        node.value("replicated", int, None),
        node.value("stored", int, None),
    )
    node.finish()
    return partition


def _range(node: _Node) -> PlannedRange:
    found = PlannedRange(node.value("start", int, None), node.value("end", int, None))
    start, end = found.start or 0, found.end
    if start < 0 or (end is not None and end < start):
        raise node.wrong(f"[{found.start}, {found.end}) is not a valid range of offsets")
    node.finish()
    return found


def _committed_offset(node: _Node, partitions: int) -> CommittedOffsets:
    committed_offset = CommittedOffsets(
        node.text("group"),
        node.value("partition", int),
        node.choice("truth", SIDES),
        node.value("source", int, None),
        node.value("target", int, None),
        node.value("own", int, None),
    )
    if not 0 <= committed_offset.partition < partitions:
        raise node.wrong(f"the partition {committed_offset.partition} does not exist")
    node.finish()
    return committed_offset


_REQUIRED: Any = object()


class _Node:
    """One object of the plan. Its errors name its path in the plan."""

    def __init__(self, found: Any, where: str) -> None:
        self.where = where
        if not isinstance(found, dict):
            raise self.wrong(f"wanted an object, found {type(found).__name__}")
        self._found: dict[str, Any] = found
        self._asked: set[str] = set()

    def wrong(self, text: str) -> AuditError:
        """Return the error for this object."""
        return AuditError("plan_invalid", f"{self.where}: {text}.")

    def value(self, name: str, kind: type, default: Any = _REQUIRED) -> Any:
        """Return the value of a key. Raises if it is missing without a default, or of another type."""
        self._asked.add(name)
        if name not in self._found or (self._found[name] is None and default is not _REQUIRED):
            if default is _REQUIRED:
                raise self.wrong(f'"{name}" is missing')
            return default
        found = self._found[name]
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            raise self.wrong(f'"{name}" must be of type {kind.__name__}, found {found!r}')
        return found

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        found: str = self.value(name, str)
        if not found:
            raise self.wrong(f'"{name}" is empty')
        return found

    def choice(self, name: str, choices: tuple[str, ...], default: Any = _REQUIRED) -> str:
        """Return a text that is one of ``choices``."""
        found: str = self.value(name, str, default)
        if found not in choices:
            raise self.wrong(f'"{name}" is {found!r}, wanted one of {", ".join(choices)}')
        return found

    def mapping(self, name: str, default: Any = _REQUIRED) -> dict[str, Any]:
        """Return an object as a dictionary."""
        found: dict[str, Any] = self.value(name, dict, default)
        return found

    def node(self, name: str) -> _Node:
        """Return an object as a node."""
        return _Node(self.value(name, dict), f"{self.where}.{name}")

    def members(self) -> list[tuple[str, _Node]]:
        """Return all members by name, each as a node."""
        return [(name, _Node(found, f"{self.where}.{name}")) for name, found in self._found.items()]

    def items(self, name: str, default: Any = _REQUIRED) -> list[_Node]:
        """Return the objects of a list as nodes."""
        found = self.value(name, list, list(default) if default is not _REQUIRED else _REQUIRED)
        return [_Node(item, f"{self.where}.{name}[{number}]") for number, item in enumerate(found)]

    def finish(self, *also: str) -> None:
        """Raise if the object has a key that was not read: the plan would mean less than its author expects."""
        unknown = sorted(set(self._found) - self._asked - set(also))
        if unknown:
            raise self.wrong(f'the key "{unknown[0]}" is unknown')
