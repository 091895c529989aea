# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan: what is to be compared, as the verify role writes it. Schema: docs/audit.md.

Secrets are never part of it: ``secrets`` names a file or an environment variable that holds a JSON object of client
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

SCHEMA = "switchback.kafka_dr/audit-plan/1"
MODES = ("complete", "online", "disaster")
ISOLATIONS = ("read_committed", "read_uncommitted")
SIDES = ("source", "target")
GUARANTEES = ("at_least_once", "exactly_once")


@dataclass(frozen=True)
class Cluster:
    alias: str
    cluster_id: str
    bootstrap_servers: str
    client: Mapping[str, str]  # names of the Java clients, secrets included


@dataclass(frozen=True)
class TopicSide:
    """``live``: records behind the planned end are expected, because somebody writes there rightly."""

    cluster: str
    topic: str
    topic_id: str | None
    live: bool

    def __str__(self) -> str:
        return f"{self.cluster}:{self.topic}"


@dataclass(frozen=True)
class PlannedRange:
    """Offsets [start, end); None: the log start, or the end that the audit finds."""

    start: int | None
    end: int | None


@dataclass(frozen=True)
class PlannedPartition:
    number: int
    source: PlannedRange
    target: PlannedRange
    replicated: int | None  # source offset below which the flow says that it has copied everything


@dataclass(frozen=True)
class CommittedOffsets:
    """``truth``: the side whose position is right; the other one is judged. ``None``: the group has no commit.

    ``own``: where the group itself stood on the judged side when it left that side earlier; it has read what is below.
    """

    group: str
    partition: int
    truth: str
    source: int | None
    target: int | None
    own: int | None = None

    @property
    def given(self) -> str:
        """The side that is judged."""
        return "target" if self.truth == "source" else "source"

    def watched(self, name: str) -> set[int]:
        """Offsets of one side whose ranks are needed."""
        own = self.own if name == self.given else None
        return {offset for offset in (getattr(self, name), own) if offset is not None}


@dataclass(frozen=True)
class Topic:
    name: str
    source: TopicSide
    target: TopicSide
    mode: str
    isolation: str
    guarantee: str
    transformed: bool
    baseline: bool
    fresh: bool  # the positions are of now: one below a log start will be reset, and was not overtaken by retention
    accept: tuple[str, ...]
    partitions: tuple[PlannedPartition, ...]
    committed_offsets: tuple[CommittedOffsets, ...]

    @property
    def partition_numbers(self) -> list[int]:
        return [partition.number for partition in self.partitions]


@dataclass(frozen=True)
class AuditPlan:
    run: str
    pair: str
    clusters: Mapping[str, Cluster]
    topics: tuple[Topic, ...]
    document: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)


def load(path: Path, environment: Mapping[str, str] | None = None) -> AuditPlan:
    """Raises `AuditError` ``plan_unreadable``, ``plan_version`` or ``plan_invalid``."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AuditError("plan_unreadable", f"The plan {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise AuditError("plan_unreadable", f"The plan {path} is no JSON: {error}.") from error
    return parse(document, os.environ if environment is None else environment, path.parent)


def parse(document: Any, environment: Mapping[str, str], folder: Path = Path()) -> AuditPlan:
    root = _Node(document, "plan")
    schema = root.text("schema")
    if schema != SCHEMA:
        raise AuditError(
            "plan_version",
            f'The plan has the schema "{schema}", this audit reads "{SCHEMA}". '
            "Let the verify role of the same release write it.",
        )
    clusters = {alias: _cluster(alias, node, environment, folder) for alias, node in root.node("clusters").members()}
    topics = tuple(_topic(node, clusters) for node in root.items("topics"))
    if not topics:
        raise AuditError("plan_invalid", "The plan names no topic: there is nothing to prove.")
    root.finish("run", "pair")
    return AuditPlan(root.text("run"), root.text("pair"), clusters, topics, document)


def _cluster(alias: str, node: _Node, environment: Mapping[str, str], folder: Path) -> Cluster:
    client = {name: str(value) for name, value in node.mapping("client", {}).items()}
    secrets = node.mapping("secrets", {})
    if secrets:
        client |= _secrets(secrets, environment, folder, node.where)
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
        raise AuditError("plan_invalid", f'{place}: "secrets" names either "env" or "file".')
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
        raise node.wrong(f"partitions must be numbered 0 to n-1, each once; found {sorted(numbers)}")
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
    )
    node.finish()
    return partition


def _range(node: _Node) -> PlannedRange:
    found = PlannedRange(node.value("start", int, None), node.value("end", int, None))
    start, end = found.start or 0, found.end
    if start < 0 or (end is not None and end < start):
        raise node.wrong(f"[{found.start}, {found.end}) is no range of offsets")
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
        raise node.wrong(f"there is no partition {committed_offset.partition}")
    node.finish()
    return committed_offset


_REQUIRED: Any = object()


class _Node:
    """One object of the document: says where it stands when something is wrong with it."""

    def __init__(self, found: Any, where: str) -> None:
        self.where = where
        if not isinstance(found, dict):
            raise self.wrong(f"an object is wanted, found {type(found).__name__}")
        self._found: dict[str, Any] = found
        self._asked: set[str] = set()

    def wrong(self, text: str) -> AuditError:
        return AuditError("plan_invalid", f"{self.where}: {text}.")

    def value(self, name: str, kind: type, default: Any = _REQUIRED) -> Any:
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
        found: str = self.value(name, str)
        if not found:
            raise self.wrong(f'"{name}" is empty')
        return found

    def choice(self, name: str, choices: tuple[str, ...], default: Any = _REQUIRED) -> str:
        found: str = self.value(name, str, default)
        if found not in choices:
            raise self.wrong(f'"{name}" is {found!r}; it is one of {", ".join(choices)}')
        return found

    def mapping(self, name: str, default: Any = _REQUIRED) -> dict[str, Any]:
        found: dict[str, Any] = self.value(name, dict, default)
        return found

    def node(self, name: str) -> _Node:
        return _Node(self.value(name, dict), f"{self.where}.{name}")

    def members(self) -> list[tuple[str, _Node]]:
        return [(name, _Node(found, f"{self.where}.{name}")) for name, found in self._found.items()]

    def items(self, name: str, default: Any = _REQUIRED) -> list[_Node]:
        found = self.value(name, list, list(default) if default is not _REQUIRED else _REQUIRED)
        return [_Node(item, f"{self.where}.{name}[{number}]") for number, item in enumerate(found)]

    def finish(self, *also: str) -> None:
        """A key that nobody reads is a mistake: the plan would mean less than its writer thinks."""
        unknown = sorted(set(self._found) - self._asked - set(also))
        if unknown:
            raise self.wrong(f'"{unknown[0]}" is not known here')
