# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an audit: what the Spark program compares, from the pair and its journal.

The schema is that of ``spark/kafka_dr_audit/plan.py`` (docs/audit.md).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..flows.pair_spec import PairSpec
from ..journal.state import JournalState
from ..partition import Partition
from ..redaction import is_secret, looks_secret
from ..security import java_properties

__all__ = ["SCHEMA", "AuditRules", "Cut", "audit_plan", "cluster_part", "last_cut", "secrets_name"]

SCHEMA = "switchback.kafka_dr/audit-plan/2"


@dataclass(frozen=True)
class AuditRules:
    """Which differences make the verdict REFUTED."""

    #: The delivery guarantee of the workers: ``at_least_once`` or ``exactly_once``.
    guarantee: str = "at_least_once"
    #: By topic, kinds of differences that are accepted.
    accept: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: The cutover has only just ended. Later, records below a log start count as deleted by retention.
    fresh: bool = False


@dataclass(frozen=True)
class Cut:
    """Where the flow away from the applications began to write, on both clusters (R50)."""

    #: By partition, on the cluster where the applications live.
    source: Mapping[Partition, int]
    #: By partition, on the other cluster.
    target: Mapping[Partition, int]


def last_cut(state: JournalState, topic: str, source: str, target: str, partitions: int) -> Cut | None:
    """The cut of a topic at the last move, if a cutover made it with both clusters at rest. None: it is not known.

    After a disaster the end of the lost cluster is a lower bound (R45). A cut that was found by content, after a move
    by hand or for a topic that joined later, shows where the flow began, and not that no record came before.
    """
    keys = [Partition(topic, number) for number in range(partitions)]
    cuts = (record for record in reversed(state.cuts) if topic in record["cut"] or topic in record["ends"])
    newest = next(cuts, None)
    if newest is None or newest.get("disaster") or not newest.get("known", True):
        return None
    if (newest["from"], newest["to"]) != (target, source):
        return None
    cut, ends = ({key: _at(newest[name].get(topic, {}), key.partition) for key in keys} for name in ("cut", "ends"))
    begin = {key: at for key, at in cut.items() if at is not None}
    end = {key: at for key, at in ends.items() if at is not None}
    return Cut(begin, end) if len(begin) == len(end) == partitions else None


def secrets_name(alias: str) -> str:
    """The environment variable with the secrets of a cluster, as a JSON object of client properties."""
    return "KAFKA_DR_AUDIT_SECRETS_" + "".join(sign if sign.isalnum() else "_" for sign in alias.upper())


def cluster_part(alias: str, cluster: Mapping[str, Any], cluster_id: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The plan's entry of a cluster without secrets, and the environment with the secrets."""
    java = java_properties(cluster.get("admin_client") or cluster.get("client") or {})
    hidden = {name: value for name, value in java.items() if is_secret(name) or looks_secret(value)}
    part: dict[str, Any] = {
        "cluster_id": cluster_id,
        "bootstrap_servers": cluster["bootstrap_servers"],
        "client": {name: value for name, value in java.items() if name not in hidden},
    }
    if not hidden:
        return part, {}
    return {**part, "secrets": {"env": secrets_name(alias)}}, {secrets_name(alias): json.dumps(hidden)}


def audit_plan(
    pair: PairSpec,
    rules: AuditRules,
    state: JournalState,
    clusters: Mapping[str, Any],
    partitions: Mapping[str, int],
    stored: Mapping[Partition, int] | None = None,
) -> dict[str, Any]:
    """The whole plan. ``clusters``: entries of `cluster_part` by alias. ``partitions``: number by topic.

    ``stored``: policy identity, up to which source offsets the flow had stored its progress (exclusive).
    """
    active = state.active or pair.home
    passive = next(alias for alias in clusters if alias != active)
    left = {alias: state.left.get(alias) or {} for alias in (active, passive)}
    flows = [(active, passive), (passive, active)]
    topics = [
        _topic(pair, rules, state, flow, topic, partitions[topic], active, left, stored or {})
        for flow in flows
        for topic in pair.topics
        # With the policy identity, no record was replicated in the other direction before the first cutover.
        if not pair.naming.one_flow_at_a_time or flow[0] == active or left[passive]
    ]
    run = "none" if state.run is None else state.run.id
    return {"schema": SCHEMA, "run": run, "pair": pair.name, "clusters": dict(clusters), "topics": topics}


def _topic(
    pair: PairSpec,
    rules: AuditRules,
    state: JournalState,
    flow: tuple[str, str],
    topic: str,
    partitions: int,
    active: str,
    left: Mapping[str, Any],
    stored: Mapping[Partition, int],
) -> dict[str, Any]:
    source, target = flow
    passive = target if source == active else source
    replica = pair.naming.replica(source, topic)
    shared, online = pair.naming.flows_write_originals, source == active
    ends = cut = None
    if shared and not online:
        # Only the records before the last move: both logs continue after these ends.
        ends, cut = (left[passive].get(name, {}).get(topic, {}) for name in ("ends", "cut"))
    # The other topic pair compares the records before the cut, in the direction in which they were replicated.
    from_cut = shared and online and bool(left[passive])
    begun = last_cut(state, topic, source, target, partitions) if from_cut else None
    return {
        "name": f"{source}:{topic}",
        "source": {**_side(state, source, topic), "live": ends is not None},
        "target": {**_side(state, target, replica), "live": cut is not None},
        # No application writes on the idle cluster, so every record there must be on the other cluster.
        "mode": "online" if online else "complete",
        "guarantee": rules.guarantee,
        "accept": list(rules.accept.get(topic, ())),
        "fresh": rules.fresh,
        "from_cut": from_cut,
        "partitions": [
            {
                "partition": number,
                "source": {"start": begun and begun.source[Partition(topic, number)], "end": _at(ends, number)},
                "target": {"start": begun and begun.target[Partition(topic, number)], "end": _at(cut, number)},
                **({"stored": stored.get(Partition(topic, number))} if from_cut else {}),
            }
            for number in range(partitions)
        ],
        # With the policy identity both directions have the same records. Offsets are judged where both ends are known.
        "committed_offsets": []
        if shared and online
        else _committed_offsets(left, source, target, topic, replica, active),
    }


def _at(offsets: Mapping[Any, Any] | None, partition: int) -> int | None:
    """The offset of a partition; None: unknown. The journal's keys are text, as in JSON."""
    return None if offsets is None else offsets.get(str(partition), offsets.get(partition))


def _side(state: JournalState, alias: str, topic: str) -> dict[str, Any]:
    known = state.topic_ids.get(alias, {}).get(topic)
    # librdkafka writes ids in plain base64, Kafka itself in the form for URLs (org.apache.kafka.common.Uuid).
    return {"cluster": alias, "topic": topic, "topic_id": known and known.translate(str.maketrans("+/", "-_"))}


def _committed_offsets(
    left: Mapping[str, Any], source: str, target: str, topic: str, replica: str, active: str
) -> list[dict[str, Any]]:
    """Offsets of the last move: of each group on the cluster being left, and on the cluster being entered."""
    passive = source if target == active else target
    left_at, earlier = (left[alias].get("committed_offsets") or {} for alias in (passive, active))
    entered = _entered(left[passive].get("entered") or ())
    here, there = (replica, topic) if target == active else (topic, replica)
    truth = "source" if target == active else "target"
    given = "target" if target == active else "source"
    rows = []
    for group in sorted({*left_at, *entered}):
        before, after = left_at.get(group, {}).get(there, {}), entered.get(group, {}).get(here, {})
        # After a disaster, the truth is unknown, so it is unknown as well whether the group was set back since (R39).
        own = {} if left[passive].get("disaster") else earlier.get(group, {}).get(here, {})
        for partition in sorted({int(number) for number in (*before, *after)}):
            row = {"group": group, "partition": partition, "truth": truth}
            row[truth] = _at(before, partition)
            row[given] = after.get(partition)
            row["own"] = _at(own, partition)
            rows.append(row)
    return rows


def _entered(groups: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[int, int]]]:
    found: dict[str, dict[str, dict[int, int]]] = {}
    for group in groups:
        for row in group["committed_offsets"]:
            topics = found.setdefault(group["group"], {})
            topics.setdefault(row["topic"], {})[int(row["partition"])] = row["offset"]
    return found
