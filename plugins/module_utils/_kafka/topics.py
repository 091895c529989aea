# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and change the topics of one cluster in batches: one request for many topics.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import dataclasses
import gc
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.partition import Partition, Range
from .._core.resources.topic_ids import known_id
from .._core.resources.topics import MIN_IN_SYNC, ConfigValue, TopicState, WantedTopic, plan_absent, refused_writes
from .._core.retriable import BROKER_ERRORS, LIBRARY_ERRORS
from .._core.values import same
from .._core.waiting import Bounds, wait_until
from .client import Kafka, missing_right

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
    from confluent_kafka.admin import (
        AlterConfigOpType,
        ConfigEntry,
        ConfigResource,
        ConfigSource,
        NewPartitions,
        NewTopic,
        OffsetSpec,
        ResourceType,
    )

__all__ = [
    "apply",
    "batches",
    "delete",
    "describe",
    "describe_anew",
    "known_ranges",
    "log_ends",
    "log_ranges",
    "names",
    "offsets_at",
    "refusing_writes",
    "remember",
    "require_ranges",
    "try_log_ranges",
    "unsettled",
    "why_not_written",
    "with_config",
    "without_collector",
    "without_errors",
]

T = TypeVar("T")

# Topics in one describe request. Each takes about 3 kB of the response, and librdkafka and brokers allow 100 MB.
_DESCRIBE_BATCH = 2000
# A broker opens the logs of thousands of new partitions one by one. A partition that moved has its leader sooner.
_OPENING = Bounds(120.0, 0.2, 10.0)
# The error of librdkafka's ListOffsets while it knows no leader of the partitions, such as after a restart.
_NO_LEADER = "_NOENT"
# librdkafka's time grows with the square of the number of partitions in a request. Its admin client takes 100 times as
# long as its consumer, which reads 12,000 partitions in 0.07 s with batches of 500, and in 0.7 s with one.
_ADMIN_OFFSETS = 1000
_CONSUMER_OFFSETS = 500
# Special timestamps in a ListOffsets request: the log start offset and the end offset.
_EARLIEST, _LATEST = -2, -1
# The KRaft controller refuses a request that writes more than 10,000 metadata records
# (QuorumController.MAX_RECORDS_PER_USER_OP). A topic costs one record, and each partition and setting one more.
_RECORD_BUDGET = 9000
# Records to count for a topic whose number of partitions the broker decides.
_UNSET_PARTITIONS = 100


def names(kafka: Kafka) -> list[str]:
    """Names of all visible topics, internal ones included. The request names no topic, so it cannot create one.

    Call :func:`require_all_visible` first if a missing name is evidence.
    """
    kafka.note_request("list_topics")

    def read() -> list[str]:
        try:
            return sorted(kafka.admin.list_topics(timeout=kafka.timeout).topics)
        except KafkaException as error:
            raise kafka.explain(error, "list the topics") from error

    return kafka.patiently(read)


def require_all_visible(kafka: Kafka) -> None:
    """Raise ``not_authorized`` unless this account may describe every topic.

    A broker leaves the others out of its responses without an error. It reports that a topic does not exist only to an
    account that may describe that name (KafkaApis.handleTopicMetadataRequest), so a random name proves the right.
    """
    if kafka.sees_all_topics:
        return
    try:
        _describe(kafka, [uuid.uuid4().hex], None)
    except DrError as error:
        if error.code != "not_authorized":
            raise
        raise DrError(
            "not_authorized",
            f'Kafka at "{kafka.bootstrap_servers}" hides topics that this account may not describe, so it is unknown'
            " which topics exist and which ones the groups read.",
            missing_right([("topic", "*", "describe")], kafka.principal, kafka.bootstrap_servers),
            kafka.bootstrap_servers,
        ) from error
    kafka.sees_all_topics = True


def remember(kafka: Kafka, topics: Collection[str], settings: Collection[str]) -> None:
    """Describe ``topics`` with ``settings`` now, and let later calls with this client use the cached answers.

    Log start offsets are cached too. End offsets are cached only if the caller fills ``kafka.seen_ends``. Use this only
    in a read-only module for which answers that are a few seconds old are recent enough, and never in a cutover.
    """
    described = _describe(kafka, topics, dict.fromkeys(topics, settings))
    kafka.seen_topics, kafka.seen_settings = described, frozenset(settings)
    kafka.seen_starts, kafka.seen_ends = {}, {}
    existing = [state for state in described.values() if state is not None]
    _starts(kafka, sorted(Partition(state.name, index) for state in existing for index in range(state.partitions)))


def describe(
    kafka: Kafka, topics: Collection[str], settings: Mapping[str, Collection[str]] | None = None
) -> dict[str, TopicState | None]:
    """Return the state of each topic, None if it does not exist. The request never creates a topic.

    ``settings``: the settings to read too, by topic, as for :func:`with_config`. Both requests are sent at once.
    """
    cached = kafka.seen_topics
    if cached is None or not all(kafka.seen_settings.issuperset(wanted) for wanted in (settings or {}).values()):
        return _describe(kafka, topics, settings)
    missing = [name for name in topics if name not in cached]
    if missing:
        cached.update(_describe(kafka, missing, dict.fromkeys(missing, kafka.seen_settings)))
    return {name: cached[name] for name in topics}


def describe_anew(kafka: Kafka, topics: Collection[str]) -> dict[str, TopicState | None]:
    """As :func:`describe`, without the cache, which also needs the right to read the settings of each topic."""
    return _describe(kafka, topics, None)


def _describe(
    kafka: Kafka, topics: Collection[str], settings: Mapping[str, Collection[str]] | None
) -> dict[str, TopicState | None]:
    states: dict[str, TopicState | None] = {}
    wanted = settings or {}

    def read(batch: list[str]) -> dict[str, TopicState | None]:
        kafka.note_request("describe_topics", topics=len(batch))
        futures = kafka.admin.describe_topics(TopicCollection(batch), request_timeout=kafka.timeout)
        configs = _ask_settings(kafka, [name for name in batch if name in wanted])
        described = {name: _state(kafka, name, future) for name, future in futures.items()}
        existing = {name: future for name, future in configs.items() if described[name] is not None}
        return {**described, **_with_settings(kafka, described, existing, wanted)}

    for batch in batches(list(topics), _DESCRIBE_BATCH):
        with without_collector():
            states.update(kafka.patiently(read, batch))
    return states


def _state(kafka: Kafka, name: str, future: Future[Any]) -> TopicState | None:
    try:
        topic = kafka.result(future)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return None
        raise kafka.explain(error, f'describe topic "{name}"', ("topic", name, "describe")) from error
    factors = {len(partition.replicas) for partition in topic.partitions}
    leaderless = tuple(partition.id for partition in topic.partitions if partition.leader is None)
    factor = factors.pop() if len(factors) == 1 else None
    in_sync = min((len(partition.isr) for partition in topic.partitions), default=None)
    topic_id = known_id(str(topic.topic_id))
    return TopicState(name, topic_id, len(topic.partitions), factor, leaderless, fewest_in_sync=in_sync)


def with_config(
    kafka: Kafka, states: Iterable[TopicState], wanted: Mapping[str, Collection[str]] | None = None
) -> dict[str, TopicState]:
    """Add the settings to the states of topics.

    All overrides are included. ``wanted``: the other settings to include, by topic. None: all settings.
    """
    by_name: dict[str, TopicState] = {state.name: state for state in states}

    def read(batch: list[str]) -> dict[str, TopicState]:
        return _with_settings(kafka, by_name, _ask_settings(kafka, batch), wanted)

    for batch in batches(list(by_name), _DESCRIBE_BATCH):
        with without_collector():
            by_name.update(kafka.patiently(read, batch))
    return by_name


def _ask_settings(kafka: Kafka, topics: list[str]) -> dict[str, Future[Any]]:
    if not topics:
        return {}
    kafka.note_request("describe_configs", topics=len(topics))
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in topics]
    futures = kafka.admin.describe_configs(resources, request_timeout=kafka.timeout)
    return {resource.name: future for resource, future in futures.items()}


def _with_settings(
    kafka: Kafka,
    states: Mapping[str, TopicState | None],
    futures: Mapping[str, Future[Any]],
    wanted: Mapping[str, Collection[str]] | None,
) -> dict[str, TopicState]:
    completed = {}
    for name, future in futures.items():
        need = ("topic", name, "describe_configs")
        entries = kafka.settle(future, f'describe the settings of topic "{name}"', need)
        keep = None if wanted is None else wanted.get(name, ())
        if (state := states[name]) is not None:
            completed[name] = dataclasses.replace(state, config=_config(entries, keep))
    return completed


def _config(entries: Mapping[str, Any], keep: Collection[str] | None) -> dict[str, ConfigValue]:
    own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    return {
        key: ConfigValue(entry.value, entry.source == own)
        for key, entry in entries.items()
        if keep is None or entry.source == own or key in keep
    }


def refusing_writes(kafka: Kafka, states: Iterable[TopicState]) -> list[str]:
    """Return the topics that refuse writes with acks=all because too few replicas are in sync, with the numbers.

    Settings are read only for topics with a replica that is not in sync.
    """
    shrunk = [state for state in states if state.shrunk]
    complete = with_config(kafka, shrunk, {state.name: (MIN_IN_SYNC,) for state in shrunk})
    return [text for state in complete.values() if (text := refused_writes(state))]


def why_not_written(kafka: Kafka, names: Collection[str]) -> str:
    """Say which of these topics refuse writes because too few replicas are in sync; "": none, or it is unknown.

    librdkafka and a transaction coordinator repeat a refused write, and then report only that it took too long.
    """
    with suppress(DrError):
        refused = refusing_writes(kafka, [state for state in describe(kafka, names).values() if state is not None])
        return f" The brokers refuse writes with acks=all: {'; '.join(refused)}." if refused else ""
    return ""


def log_ranges(
    kafka: Kafka, partitions: Iterable[Partition], isolation: str = "read_committed"
) -> dict[Partition, Range]:
    """Return (log start offset, end offset) of each partition. Two requests.

    The end offset is the last stable offset for ``read_committed``, and the high watermark for ``read_uncommitted``.
    All partitions must exist. Raises ``offsets_unknown`` if the offsets of a partition stay unavailable after retries.
    """
    return require_ranges(kafka, try_log_ranges(kafka, partitions, isolation))


def log_ends(
    kafka: Kafka, partitions: Iterable[Partition], isolation: str = "read_uncommitted"
) -> dict[Partition, int]:
    """Return the high watermark of each partition, in one request. Raises as :func:`log_ranges` does.

    For ``read_committed`` it is the last stable offset.
    """
    reported = _reported(
        lambda unreported: _offsets(kafka, dict.fromkeys(unreported, _LATEST), isolation, "latest"), partitions
    )
    _require_answers(kafka, {key: end for key, end in reported.items() if isinstance(end, str)}, "End offsets")
    return {key: end for key, end in reported.items() if not isinstance(end, str)}


def try_log_ranges(
    kafka: Kafka, partitions: Iterable[Partition], isolation: str = "read_committed"
) -> dict[Partition, tuple[int, int] | str]:
    """Like :func:`log_ranges`, but map a partition whose offsets stay unavailable to the broker's error text."""
    return _reported(lambda unreported: _ranges(kafka, unreported, isolation), partitions)


def _reported(
    ask: Callable[[list[Partition]], Mapping[Partition, T | str]], asked: Iterable[Partition]
) -> dict[Partition, T | str]:
    """Call ``ask`` until it returns a value for each partition, and map the others to the broker's error text.

    ``ask``: returns a value or an error text for each given partition. The result is sorted by partition.
    """
    reported: dict[Partition, T | str] = dict.fromkeys(sorted(asked), "")

    def observe() -> list[Partition]:
        unreported = [key for key, answer in reported.items() if isinstance(answer, str)]
        reported.update(ask(unreported))
        return [key for key in unreported if isinstance(reported[key], str)]

    # A leader that is still loading logs reports no progress, so treat these errors as progress.
    codes = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH)
    opening = {KafkaError(code).str() for code in codes}
    wait_until(
        observe,
        lambda unreported: not unreported,
        _OPENING,
        lambda unreported: object() if any(reported[key] in opening for key in unreported) else len(unreported),
    )
    return reported


def require_ranges(kafka: Kafka, reported: Mapping[Partition, tuple[int, int] | str]) -> dict[Partition, Range]:
    """Return the ranges of :func:`try_log_ranges` if all are known. Raises ``offsets_unknown`` otherwise."""
    unreported = {key: span for key, span in reported.items() if isinstance(span, str)}
    _require_answers(kafka, unreported, "Start and end offsets")
    return {partition: span for partition, span in reported.items() if not isinstance(span, str)}


def _require_answers(kafka: Kafka, unreported: Mapping[Partition, str], what: str) -> None:
    if unreported:
        first = ", ".join(f"{topic}-{number}" for topic, number in list(unreported)[:5])
        raise DrError(
            "offsets_unknown",
            f"{what} of {len(unreported)} partitions could not be read: {first}."
            f" The broker's error for the first one: {next(iter(unreported.values())).rstrip('.')}.",
            "Check that these partitions exist and have a leader.",
            kafka.bootstrap_servers,
            # Errors of another kind were raised at once.
            retriable=True,
        )


def known_ranges(
    kafka: Kafka, partitions: Iterable[Partition], isolation: str = "read_committed"
) -> dict[Partition, tuple[int, int] | None]:
    """Like :func:`log_ranges`, but without retries: map a partition to None if its offsets are unavailable."""
    return without_errors(_ranges(kafka, partitions, isolation))


def without_errors(reported: Mapping[Partition, tuple[int, int] | str]) -> dict[Partition, tuple[int, int] | None]:
    """Replace the error texts of :func:`try_log_ranges` by None."""
    return {partition: None if isinstance(span, str) else span for partition, span in reported.items()}


def _ranges(kafka: Kafka, partitions: Iterable[Partition], isolation: str) -> dict[Partition, tuple[int, int] | str]:
    wanted = sorted(set(partitions))
    if not wanted:
        return {}
    starts = _starts(kafka, wanted)
    cached = isolation == "read_committed" and kafka.seen_ends.keys() >= set(wanted)
    ends = kafka.seen_ends if cached else _offsets(kafka, dict.fromkeys(wanted, _LATEST), isolation, "latest")
    ranges: dict[Partition, tuple[int, int] | str] = {}
    for partition in wanted:
        start, end = starts[partition], ends[partition]
        ranges[partition] = start if isinstance(start, str) else end if isinstance(end, str) else (start, end)
    return ranges


def _starts(kafka: Kafka, wanted: list[Partition]) -> dict[Partition, int | str]:
    cached = kafka.seen_starts
    missing = [partition for partition in wanted if partition not in cached]
    timestamps = dict.fromkeys(missing, _EARLIEST)
    read = _offsets(kafka, timestamps, "read_committed", "earliest")
    if kafka.seen_topics is not None:
        cached.update({partition: start for partition, start in read.items() if not isinstance(start, str)})
    return {partition: read[partition] if partition in read else cached[partition] for partition in wanted}


def _offsets(
    kafka: Kafka, timestamps: Mapping[Partition, int], isolation: str, which: str
) -> dict[Partition, int | str]:
    """Return the offset of each partition at its timestamp, or the broker's error text.

    ``timestamps``: epoch ms, ``_EARLIEST`` or ``_LATEST``. -1 as an offset: no record has that
    timestamp or a later one. ``which``: how the request is named in ``requests``.
    """
    offsets: dict[Partition, int | str] = {}
    if len(timestamps) > _ADMIN_OFFSETS:
        offsets.update(_ask_consumer(kafka, timestamps, isolation, which))
    elif timestamps:
        offsets.update(_ask_admin(kafka, timestamps, isolation, which)[0])
    failed = [partition for partition in timestamps if not isinstance(offsets.get(partition), int)]
    if failed:
        # librdkafka's admin client (2.16) refreshes its metadata when a leader has moved, but not when the same broker
        # leads in a later epoch (FENCED_LEADER_EPOCH, after a broker restart). Brokers would refuse it for minutes.
        # This raises if no broker responds. If only a leader died, the metadata name the next one.
        names(kafka)
    for batch in batches(failed, _ADMIN_OFFSETS):
        answers, silent = _ask_admin(kafka, {place: timestamps[place] for place in batch}, isolation, which)
        if silent is not None:
            raise kafka.explain(silent, f"read offsets ({which})") from silent
        offsets.update(answers)
    return offsets


def offsets_at(kafka: Kafka, timestamps: Mapping[Partition, int]) -> dict[Partition, int | None]:
    """Return the first offset of each partition whose record has the given timestamp (epoch ms) or a later one.

    None: the partition has no such record. Raises ``offsets_unknown`` if an offset stays unavailable after retries.
    """
    reported = _reported(
        lambda unreported: _offsets(kafka, {key: timestamps[key] for key in unreported}, "read_uncommitted", "time"),
        timestamps,
    )
    unreported = {key: reason for key, reason in reported.items() if isinstance(reason, str)}
    _require_answers(kafka, unreported, "Offsets by time")
    return {key: None if offset < 0 else offset for key, offset in reported.items() if not isinstance(offset, str)}


def _ask_consumer(
    kafka: Kafka, timestamps: Mapping[Partition, int], isolation: str, which: str
) -> dict[Partition, int]:
    """Read the offsets of many partitions with a consumer.

    If one partition of a batch fails, this batch and those after it are left out: the consumer does not report which
    one failed, and every batch would wait for a broker that does not respond.
    """
    offsets: dict[Partition, int] = {}
    consumer = kafka.offset_reader(isolation)
    with suppress(KafkaException):
        for batch in batches(sorted(timestamps), _CONSUMER_OFFSETS):
            kafka.note_request("list_offsets", partitions=len(batch), at=which, isolation=isolation)
            asked = [TopicPartition(key.topic, key.partition, timestamps[key]) for key in batch]
            for answer in consumer.offsets_for_times(asked, timeout=kafka.timeout):
                if answer.error is None:
                    offsets[Partition(answer.topic, answer.partition)] = answer.offset
    if len(offsets) < len(timestamps):
        kafka.forget_offset_reader(isolation)
    return offsets


def _ask_admin(
    kafka: Kafka, timestamps: Mapping[Partition, int], isolation: str, which: str
) -> tuple[dict[Partition, int | str], KafkaException | None]:
    """Return offsets or error texts, and the error of a broker that did not respond; None: all did."""
    kafka.note_request("list_offsets", partitions=len(timestamps), at=which, isolation=isolation)
    special = {
        _EARLIEST: OffsetSpec.earliest(),
        _LATEST: OffsetSpec.latest(),
    }
    specs = {TopicPartition(*key): special.get(at) or OffsetSpec.for_timestamp(at) for key, at in timestamps.items()}
    level = IsolationLevel.READ_COMMITTED if isolation == "read_committed" else IsolationLevel.READ_UNCOMMITTED
    offsets: dict[Partition, int | str] = {}
    silent: KafkaException | None = None
    futures = kafka.admin.list_offsets(specs, isolation_level=level, request_timeout=kafka.timeout)
    for partition, future in futures.items():
        try:
            offsets[Partition(partition.topic, partition.partition)] = kafka.result(future).offset
        except KafkaException as error:
            name = error.args[0].name()
            if name in LIBRARY_ERRORS:
                silent = error
            elif name not in BROKER_ERRORS and name != _NO_LEADER:
                # An error such as a missing right does not end by itself.
                need = ("topic", partition.topic, "describe")
                doing = f'read offsets of topic "{partition.topic}" ({which})'
                raise kafka.explain(error, doing, need) from error
            offsets[Partition(partition.topic, partition.partition)] = str(error.args[0].str())
    return offsets, silent


# ---- changes -----------------------------------------------------------------------------------------------------


def apply(kafka: Kafka, changes: Iterable[Change], check: bool = False) -> list[Outcome]:
    """Carry out the changes of a plan with few requests. A failed change does not prevent the others.

    ``check``: the broker only validates the changes. It cannot validate deletions.
    """
    by_action: dict[str, list[Change]] = {}
    for change in changes:
        by_action.setdefault(change.action, []).append(change)
    outcomes: list[Outcome] = []
    for action, (send, cost) in _ACTIONS.items():
        for batch in batches(by_action.get(action, []), _RECORD_BUDGET, cost):
            if check and action == "delete":
                outcomes += [Outcome(change, "planned") for change in batch]
                continue
            kafka.note_request(_APIS[action], topics=len(batch), validate_only=check)
            futures = send(kafka, batch, check)
            outcomes += [_outcome(kafka, change, futures[change.name], check) for change in batch]
    return outcomes


def _outcome(kafka: Kafka, change: Change, future: Future[Any], check: bool) -> Outcome:
    try:
        need = ("topic", change.name, _OPERATIONS[change.action])
        kafka.settle(future, f'{change.action} topic "{change.name}"', need)
    except DrError as error:
        return Outcome(change, "failed", error.sentence(), error.code)
    return Outcome(change, "planned" if check else "done")


def _create(kafka: Kafka, changes: list[Change], check: bool) -> dict[str, Future[Any]]:
    new = []
    for change in changes:
        config = {key: value for key, value in (change.after or {}).items() if key not in _SHAPE}
        partitions, factor = ((change.after or {}).get(key) or -1 for key in _SHAPE)
        new.append(NewTopic(change.name, num_partitions=partitions, replication_factor=factor, config=config))
    return dict(kafka.admin.create_topics(new, validate_only=check, request_timeout=kafka.timeout))


def _add_partitions(kafka: Kafka, changes: list[Change], check: bool) -> dict[str, Future[Any]]:
    new = [NewPartitions(change.name, (change.after or {})["partitions"]) for change in changes]
    return dict(kafka.admin.create_partitions(new, validate_only=check, request_timeout=kafka.timeout))


def _alter_config(kafka: Kafka, changes: list[Change], check: bool) -> dict[str, Future[Any]]:
    resources = [
        ConfigResource(
            ResourceType.TOPIC,
            change.name,
            incremental_configs=[_operation(key, value) for key, value in (change.after or {}).items()],
        )
        for change in changes
    ]
    futures = kafka.admin.incremental_alter_configs(resources, validate_only=check, request_timeout=kafka.timeout)
    return {resource.name: future for resource, future in futures.items()}


def _operation(key: str, value: str | None) -> Any:
    if value is None:
        return ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE)
    return ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)


def _delete(kafka: Kafka, changes: list[Change], check: bool) -> dict[str, Future[Any]]:
    return dict(kafka.admin.delete_topics([change.name for change in changes], request_timeout=kafka.timeout))


def _records(change: Change) -> int:
    after = change.after or {}
    return 1 + len(after) + int(after.get("partitions", 1) or _UNSET_PARTITIONS)


_SHAPE = ("partitions", "replication_factor")
_ACTIONS: dict[str, tuple[Callable[..., dict[str, Future[Any]]], Callable[[Change], int]]] = {
    "create": (_create, _records),
    "add_partitions": (_add_partitions, _records),
    "alter_config": (_alter_config, _records),
    "delete": (_delete, lambda change: 10),
}
# The right on the topic that each change needs.
_OPERATIONS = {"create": "create", "add_partitions": "alter", "alter_config": "alter_configs", "delete": "delete"}
_APIS = {
    "create": "create_topics",
    "add_partitions": "create_partitions",
    "alter_config": "incremental_alter_configs",
    "delete": "delete_topics",
}


def delete(kafka: Kafka, topics: Collection[str], check: bool, seconds: float = 60.0) -> list[Outcome]:
    """Delete the existing ones of ``topics``, and wait up to ``seconds`` until the cluster no longer lists them.

    Raises ``topic_not_deleted`` if a topic is still listed then.
    """
    outcomes = apply(kafka, plan_absent(map(WantedTopic, topics), describe(kafka, topics)).changes, check)
    failed = [f'"{one.change.name}" could not be deleted: {one.error}' for one in outcomes if one.status == "failed"]
    if not check and not failed:
        changes = [outcome.change for outcome in outcomes]
        waited = wait_until(lambda: unsettled(kafka, changes), lambda left: not left, Bounds(seconds, 0.2))
        failed = [
            f'"{change.name}" is still listed {waited.seconds:.0f} s after its deletion' for change in waited.state
        ]
    if failed:
        raise DrError("topic_not_deleted", f"{failed[0]}.", "Start the same playbook again.", kafka.bootstrap_servers)
    return outcomes


def unsettled(kafka: Kafka, changes: Collection[Change]) -> list[Change]:
    """Return the changes that are not visible yet: brokers learn of a change from the controller a moment later."""
    states = describe(kafka, {change.name for change in changes})
    settings = {change.name: change.after or {} for change in changes if change.action == "alter_config"}
    present = [state for name in settings if (state := states[name]) is not None]
    states.update(with_config(kafka, present, settings))
    return [change for change in changes if not _settled(change, states[change.name])]


def _settled(change: Change, state: TopicState | None) -> bool:
    if change.action == "delete":
        return state is None
    after = change.after or {}
    # A topic is listed before its partitions have leaders, but it can be written only when they have.
    if state is None or state.leaderless or state.partitions < (after.get("partitions") or 1):
        return False
    if change.action != "alter_config":
        return True
    for key, value in after.items():
        current = state.config.get(key)
        if value is None and current is not None and current.override:
            return False
        if value is not None and (current is None or not same(key, value, current.value)):
            return False
    return True


# ---- batching ----------------------------------------------------------------------------------------------------


def batches(items: Collection[T], budget: int, cost: Callable[[T], int] = lambda _item: 1) -> Iterator[list[T]]:
    """Split the items into lists that cost at most ``budget`` each. An item that costs more is alone in its list."""
    batch: list[T] = []
    spent = 0
    for item in items:
        price = cost(item)
        if batch and spent + price > budget:
            yield batch
            batch, spent = [], 0
        batch.append(item)
        spent += price
    if batch:
        yield batch


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause garbage collection while a response is parsed into up to 100,000 objects, none of which is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
