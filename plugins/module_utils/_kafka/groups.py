# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read consumer groups of one cluster, their members and committed offsets, and commit offsets for them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from .._core.errors import DrError, Unreachable
from .._core.listing import first_few
from .._core.partition import Partition
from .._core.resources.acl import CLUSTER_NAME
from .._core.resources.groups import ABSENT, UNDESCRIBED, GroupState, Member, as_listed, contradicts
from .._core.retriable import is_retriable_code
from .client import Kafka, is_refused
from .group_offsets import UNLIMITED, Committed, PendingOffsets, Row
from .topics import batches, require_all_visible

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaError, KafkaException

__all__ = [
    "CONSUMER",
    "Committed",
    "commit",
    "committed",
    "committed_offsets",
    "confirm_absent",
    "delete",
    "describe",
    "describe_known_types",
    "known_committed_offsets",
    "listed",
    "may_have_members",
    "names",
    "read",
    "require_all_groups_visible",
]

CONSUMER = "consumer"


_Commits = Mapping[str, Mapping[Partition, "Committed | None"]]
_LIST = ("cluster", CLUSTER_NAME, "describe")
# How a broker describes a group that is not classic to a client that asks for classic groups only.
_NOT_CLASSIC = "Dead"
# The requests of a batch are sent at once. A read ends if no answer comes for a while: slow is not silent.
_BATCH = 200


def names(kafka: Kafka) -> list[str]:
    """Names of all groups, except those whose members coordinate something else than reading, such as Kafka Connect."""
    return sorted(name for name, protocol in listed(kafka).items() if protocol in (None, CONSUMER))


def listed(kafka: Kafka) -> dict[str, str | None]:
    """Every group of the cluster, with the protocol type of its members; None: a type that nothing here describes.

    The Admin API lists and describes classic and consumer groups only. Groups of Kafka Streams (KIP-1071), share groups
    (KIP-932) and later types are missing there. The older request returns the names of all types (R41).
    """
    return kafka.in_attempts(_listed, kafka)


def _listed(seconds: float, kafka: Kafka) -> dict[str, str | None]:
    doing = "list the groups"
    kafka.note_request("list_consumer_groups")
    kafka.note_request("list_groups")
    answer = kafka.settle(kafka.admin.list_consumer_groups(request_timeout=seconds), doing, _LIST)
    if answer.errors:
        raise kafka.explain(KafkaException(answer.errors[0]), doing, _LIST)
    consumers = {group.group_id for group in answer.valid}
    try:
        rows = kafka.admin.list_groups(timeout=seconds)  # deprecated, but nothing else lists every type
    except KafkaException as error:
        raise kafka.explain(error, doing, _LIST) from error
    protocols = {row.id: row.protocol_type if row.state != _NOT_CLASSIC else None for row in rows}
    # librdkafka (2.16) forgets the error of a broker if another one answers after it. Then the groups of that broker
    # are missing, and the first list, which has its errors, shows it.
    missing = consumers - protocols.keys()
    if missing:
        raise DrError(
            "kafka_error",
            f'Kafka at "{kafka.bootstrap_servers}" returned two different lists of groups: {first_few(sorted(missing))}'
            " is in one of them only.",
            "Check that all brokers run, then start the same playbook again.",
            kafka.bootstrap_servers,
            retriable=True,
        )
    return {**protocols, **dict.fromkeys(consumers, CONSUMER)}


def require_all_groups_visible(kafka: Kafka) -> None:
    """Raise ``not_authorized`` unless this account may describe every group: a list omits the others without an error.

    A random name proves the right, as in :func:`.topics.require_all_visible`.
    """
    if not kafka.sees_all_groups:
        name = uuid.uuid4().hex
        kafka.in_attempts(_ask_for, kafka, name)
        kafka.sees_all_groups = True


def _ask_for(seconds: float, kafka: Kafka, group: str) -> None:
    until = time.monotonic() + seconds
    kafka.settle(_ask(kafka, [group])[group], "list all groups", ("group", "*", "describe"), until=until)


def describe(kafka: Kafka, groups: Collection[str]) -> dict[str, GroupState]:
    """Return the state and members of each group. ``DEAD``: no group of any type has that name."""
    return kafka.in_attempts(_described, kafka, groups) if groups else {}


def describe_known_types(kafka: Kafka, groups: Collection[str]) -> dict[str, GroupState]:
    """Like :func:`describe`, from the coordinators alone. ``DEAD``: or a group of a type that cannot be described."""
    return kafka.in_attempts(_describe, kafka, groups) if groups else {}


def confirm_absent(kafka: Kafka, states: Mapping[str, GroupState]) -> dict[str, GroupState]:
    """Turn what :func:`describe_known_types` returned into what :func:`describe` returns.

    If a group is ``DEAD``, this asks every broker of the cluster twice.
    """
    return kafka.in_attempts(_confirmed, kafka, states)


def _described(seconds: float, kafka: Kafka, groups: Collection[str]) -> dict[str, GroupState]:
    return _confirmed(seconds, kafka, _describe(seconds, kafka, groups))


def _confirmed(seconds: float, kafka: Kafka, described: Mapping[str, GroupState]) -> dict[str, GroupState]:
    states = dict(described)
    if all(state.state != ABSENT for state in states.values()):
        return states
    # After the descriptions: the coordinator of each group has answered, and answers again.
    every = _listed(seconds, kafka)
    created = [group for group, state in states.items() if state.state == ABSENT and every.get(group) is not None]
    states.update(_describe(seconds, kafka, created))
    return {group: as_listed(state, every) for group, state in states.items()}


def _describe(seconds: float, kafka: Kafka, groups: Collection[str]) -> dict[str, GroupState]:
    states: dict[str, GroupState] = {}
    for batch in batches(groups, _BATCH):
        futures = _ask(kafka, batch)
        states.update({group: _state(kafka, group, future, seconds) for group, future in futures.items()})
    return states


def _ask(kafka: Kafka, batch: list[str]) -> Mapping[str, Future[Any]]:
    kafka.note_request("describe_consumer_groups", groups=len(batch))
    futures: Mapping[str, Future[Any]] = kafka.admin.describe_consumer_groups(batch, request_timeout=UNLIMITED)
    return futures


def may_have_members(kafka: Kafka, group: str) -> bool:
    """Whether a group of any type may have members.

    The Admin API describes only consumer groups. A known group of another type, such as Kafka Connect's, counts as
    active: the broker removes it some minutes after its last member has left.
    """
    try:
        return describe(kafka, [group])[group].active
    except DrError as error:
        if "not a consumer group" in error.message:
            return True
        raise


def _state(kafka: Kafka, group: str, future: Future[Any], seconds: float) -> GroupState:
    try:
        described = kafka.result(future, time.monotonic() + seconds)
    except KafkaException as error:
        # Later protocol versions return this error. Earlier ones return a dead group.
        if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
            return GroupState(group, ABSENT)
        raise kafka.explain(error, f'describe group "{group}"', ("group", group, "describe")) from error
    members = tuple(_member(member) for member in described.members)
    # confluent-kafka 2.6 does not return the type.
    group_type = getattr(described, "type", None)
    kind = group_type.name.lower() if group_type is not None and group_type.name != "UNKNOWN" else None
    return GroupState(group, described.state.name, kind, members, described.partition_assignor or "")


def _member(member: Any) -> Member:
    assigned = member.assignment.topic_partitions if member.assignment is not None else []
    partitions = tuple(sorted(Partition(partition.topic, partition.partition) for partition in assigned))
    return Member(member.member_id, member.client_id, member.host, member.group_instance_id or None, partitions)


def committed_offsets(kafka: Kafka, groups: Collection[str]) -> dict[str, dict[Partition, int]]:
    """Return the committed offsets of each group. A partition without one is left out.

    If a pending transaction may replace an offset, wait up to the request time-out for its end. Raises
    ``offsets_unknown`` if it does not end.
    """
    return _offsets(committed(kafka, groups))


def committed(kafka: Kafka, groups: Collection[str]) -> dict[str, dict[Partition, Committed]]:
    """Like :func:`committed_offsets`, with the metadata of each offset."""
    return _all_known(kafka, kafka.in_attempts(_known, kafka, groups, done=lambda commits: not _unknown(commits)))


def read(kafka: Kafka, groups: Collection[str]) -> tuple[dict[str, GroupState], dict[str, dict[Partition, int]]]:
    """Return what :func:`describe` and :func:`committed_offsets` return, with one description of each group."""
    states, commits = kafka.in_attempts(
        _read, kafka, groups, done=lambda both: not _unknown(both[1]) and not _contradictions(*both)
    )
    states.update({group: replace(states[group], state=UNDESCRIBED) for group in _contradictions(states, commits)})
    return states, _offsets(_all_known(kafka, commits))


def _contradictions(states: Mapping[str, GroupState], commits: _Commits) -> list[str]:
    return [group for group, state in states.items() if contradicts(state, commits[group].keys())]


def _read(seconds: float, kafka: Kafka, groups: Collection[str]) -> tuple[dict[str, GroupState], _Commits]:
    require_all_visible(kafka)
    states: dict[str, GroupState] = {}
    commits: dict[str, Mapping[Partition, Committed | None]] = {}
    for batch in batches(groups, _BATCH):
        states.update(_describe(seconds, kafka, batch))
        commits.update(_committed_of(seconds, kafka, batch))
    # Once for all batches.
    return _confirmed(seconds, kafka, states), commits


def _offsets(commits: Mapping[str, Mapping[Partition, Committed]]) -> dict[str, dict[Partition, int]]:
    return {group: {key: commit.offset for key, commit in of_group.items()} for group, of_group in commits.items()}


def _all_known(kafka: Kafka, commits: _Commits) -> dict[str, dict[Partition, Committed]]:
    unknown = _unknown(commits)
    if unknown:
        raise DrError(
            "offsets_unknown",
            f"The committed offsets on {len(unknown)} partitions could not be read: {first_few(unknown)}.",
            "A transaction of the group may be open. End it, or wait for its time-out, then start the same playbook"
            " again.",
            kafka.bootstrap_servers,
        )
    return {
        group: {partition: commit for partition, commit in of_group.items() if commit is not None}
        for group, of_group in commits.items()
    }


def _unknown(commits: _Commits) -> list[str]:
    return [
        f"{group} {topic}-{number}"
        for group, of_group in commits.items()
        for (topic, number), commit in of_group.items()
        if commit is None
    ]


def known_committed_offsets(kafka: Kafka, groups: Collection[str]) -> dict[str, dict[Partition, int | None]]:
    """Like :func:`committed_offsets`, but without retries: map a partition to None if its offset is unavailable."""
    return {
        group: {key: None if commit is None else commit.offset for key, commit in of_group.items()}
        for group, of_group in kafka.attempt(_known, kafka.timeout, kafka, groups).items()
    }


def _known(seconds: float, kafka: Kafka, groups: Collection[str]) -> _Commits:
    """Return what the groups have committed, in requests of ``seconds``; None: an offset is unavailable.

    A broker leaves out topics that this account may not describe, so all must be visible to it.
    """
    require_all_visible(kafka)
    commits: dict[str, Mapping[Partition, Committed | None]] = {}
    for batch in batches(groups, _BATCH):
        commits.update(_committed_of(seconds, kafka, batch))
    return commits


def _committed_of(seconds: float, kafka: Kafka, batch: list[str]) -> _Commits:
    # One group for each request, but all requests of a batch are sent before the first response is awaited.
    for group in batch:
        kafka.note_request("list_consumer_group_offsets", group=group)
    client = kafka.group_offsets
    pending = {group: client.read(group) for group in batch}
    commits: dict[str, dict[Partition, Committed | None]] = {}
    for group, request in pending.items():
        doing = f'read the committed offsets of group "{group}"'
        try:
            rows = request.result(time.monotonic() + seconds)
        except KafkaException as error:
            raise kafka.explain(error, doing, ("group", group, "describe")) from error
        commits[group] = {}
        for row in rows:
            if row.error is not None:
                if not is_retriable_code(row.error.name()):
                    raise kafka.explain(KafkaException(row.error), doing, ("topic", row.partition.topic, "describe"))
                commits[group][row.partition] = None
            elif row.committed.offset >= 0:
                commits[group][row.partition] = row.committed
    return commits


def delete(kafka: Kafka, groups: Collection[str]) -> None:
    """Delete groups with their committed offsets. A group that does not exist is no error. None may have members."""
    for batch in batches(groups, _BATCH):
        kafka.note_request("delete_consumer_groups", groups=len(batch))
        futures = kafka.admin.delete_consumer_groups(batch, request_timeout=UNLIMITED)
        for group, future in futures.items():
            try:
                kafka.result(future, time.monotonic() + kafka.timeout)
            except KafkaException as error:
                if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
                    continue
                cause = kafka.explain(error, f'delete group "{group}"', ("group", group, "delete"))
                if isinstance(cause, Unreachable):
                    kafka.reconnect(keep=False)  # what this client has not sent yet is not sent later
                raise cause from error


def commit(kafka: Kafka, wanted: Mapping[str, Mapping[Partition, Committed]]) -> dict[str, dict[Partition, str | None]]:
    """Commit offsets with metadata, and return None or the broker's error text for each partition.

    Groups whose coordinator moves are repeated within the request time-out: the same commit twice changes nothing.
    After groups that had no success within it, nothing more is sent. A commit without an answer may have been carried
    out: read the committed offsets back.
    The commit has no leader epoch: the epoch of another cluster would make the log look truncated to the consumer.
    """
    answers: dict[str, Mapping[Partition, _Refusal | None]] = {}
    for batch in batches(wanted, _BATCH):
        answers.update(_commit_until_settled(kafka, {group: wanted[group] for group in batch}))
        if any(_is_silent(answers[group]) or _may_succeed(answers[group]) for group in batch):
            break
    unsent = _Refusal("not sent, because earlier groups had no success within the time-out", True)
    return {
        group: {
            key: None if refusal is None else refusal.text
            for key, refusal in answers.get(group, dict.fromkeys(offsets, unsent)).items()
        }
        for group, offsets in wanted.items()
    }


def _commit_until_settled(
    kafka: Kafka, wanted: Mapping[str, Mapping[Partition, Committed]]
) -> dict[str, Mapping[Partition, _Refusal | None]]:
    answers: dict[str, Mapping[Partition, _Refusal | None]] = {}

    def unsettled() -> dict[str, Mapping[Partition, Committed]]:
        return {group: offsets for group, offsets in wanted.items() if _may_succeed(answers.get(group))}

    def send(seconds: float) -> None:
        answers.update(sent := _commit(kafka, unsettled(), seconds))
        if any(_is_silent(answer) or _may_succeed(answer) for answer in sent.values()):
            # Such a client may ask a former coordinator again. What it has not sent ends with it.
            kafka.reconnect()

    kafka.in_attempts(send, done=lambda _sent: not unsettled())
    return answers


class _Refusal(NamedTuple):
    """Why an offset was not committed, and whether the same request may succeed a moment later."""

    text: str
    temporary: bool
    # Whether the broker did not answer, so that the offset may be committed.
    silent: bool = False


_UNNAMED = _Refusal("the answer does not name this partition, so whether it was carried out is unknown", False)


def _may_succeed(answer: Mapping[Partition, _Refusal | None] | None) -> bool:
    return answer is None or any(refusal is not None and refusal.temporary for refusal in answer.values())


def _is_silent(answer: Mapping[Partition, _Refusal | None]) -> bool:
    return any(refusal is not None and refusal.silent for refusal in answer.values())


def _commit(
    kafka: Kafka, wanted: Mapping[str, Mapping[Partition, Committed]], seconds: float
) -> dict[str, dict[Partition, _Refusal | None]]:
    kafka.note_request(
        "alter_consumer_group_offsets",
        groups=len(wanted),
        partitions=sum(len(offsets_of_group) for offsets_of_group in wanted.values()),
    )
    client = kafka.group_offsets
    pending = {group: client.commit(group, offsets) for group, offsets in wanted.items()}
    answers: dict[str, dict[Partition, _Refusal | None]] = {}
    until, silent = time.monotonic() + seconds, False
    for group, request in pending.items():
        answers[group] = _committed(kafka, group, request, wanted[group], until)
        silent = silent or _is_silent(answers[group])
        if not silent:
            until = time.monotonic() + seconds
    return answers


def _committed(
    kafka: Kafka, group: str, request: PendingOffsets, wanted: Mapping[Partition, Committed], until: float
) -> dict[Partition, _Refusal | None]:
    doing = f'commit the offsets of group "{group}"'
    try:
        rows = request.result(until)
    except KafkaException as error:
        topics = [("topic", topic, "read") for topic in sorted({topic for topic, _number in wanted})]
        cause = kafka.explain(error, doing, ("group", group, "read"), *topics)
        silent = isinstance(cause, Unreachable)
        text = f"{cause.sentence()} Whether it was carried out is unknown." if silent else cause.sentence()
        return dict.fromkeys(wanted, _Refusal(text, cause.retriable, silent))
    answered = {row.partition: None if row.error is None else _refusal(kafka, group, row) for row in rows}
    return {key: answered.get(key, _UNNAMED) for key in wanted}


def _refusal(kafka: Kafka, group: str, row: Row) -> _Refusal:
    if not is_refused(row.error):
        return _Refusal(row.error.str(), is_retriable_code(row.error.name()))
    doing = f'commit the offsets of group "{group}"'
    needs = (("group", group, "read"), ("topic", row.partition.topic, "read"))
    return _Refusal(kafka.explain(KafkaException(row.error), doing, *needs).sentence(), False)
