# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reverse job of a site: translates offsets committed on the other site's replicas to checkpoints and commits.

Example for site P and flow B->P: reads the committed offsets of group G on B:`P.T`, and translates them with the
offset-syncs of P->B, which are on P. Writes checkpoints of `T` to `B.checkpoints.internal` on P and, if group sync is
in effect, commits offsets for G on P:`T`.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from . import lists
from .lists import Reader, View
from .plan import Plan
from .records import Checkpoint, read_sync
from .replication import GROUPS_EXCLUDE, Lists
from .reverse import Emitted, Syncs, commits

AGAIN_SECONDS = 0.5
SECONDS = 5.0


class ReverseJob:
    """The thread of the job. ``start`` reads all offset-syncs again and resets all timers."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self._change = threading.Condition()
        # Held during a write, so that nothing is committed after a stop.
        self._writing = threading.Lock()
        self._plan: Plan | None = None
        self._facts: dict[str, Any] = {"observations": 0, "checkpoints": 0, "commits": 0, "trouble": ""}
        threading.Thread(target=self._work, daemon=True, name=f"reverse-{alias}").start()

    def start(self, plan: Plan) -> None:
        with self._change:
            self._plan = plan if plan.reverse else None
            self._change.notify_all()

    def stop(self) -> None:
        with self._change:
            self._plan = None
            self._change.notify_all()
        with self._writing:
            return

    def report(self) -> dict[str, Any]:
        with self._change:
            return {"running": self._plan is not None, **self._facts}

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._plan is not None)
                plan = self._plan
            if plan is not None:
                run = _Run(self.alias, plan)
                try:
                    self._follow(plan, run)
                finally:
                    run.close()

    def _follow(self, plan: Plan, run: _Run) -> None:
        while True:
            with self._change:
                pause = AGAIN_SECONDS if self._facts["trouble"] else run.pause()
                self._change.wait_for(lambda: self._plan is not plan, pause)
                if self._plan is not plan:
                    return
            trouble = ""
            try:
                with self._writing:
                    if self._plan is plan:
                        run.step(self._facts)
            except (KafkaException, OSError, ValueError) as error:
                trouble = str(error)
            with self._change:
                self._facts["trouble"] = trouble


class _Run:
    """One run of the reverse job, from a start to a stop."""

    def __init__(self, alias: str, plan: Plan) -> None:
        flow = plan.flow
        assert flow is not None
        self._flow, self._here, self._there = flow, plan.servers[alias], plan.servers[flow.source]
        self._separator = flow.settings.get("replication.policy.separator", ".")
        self._admins = {servers: AdminClient(lists.client(servers)) for servers in (self._here, self._there)}
        self._views = {servers: View(servers) for servers in (self._here, self._there)}
        location = flow.settings.get("offset-syncs.topic.location", "source")
        topic = (
            f"mm2-offset-syncs.{flow.source}.internal" if location == "source" else f"mm2-offset-syncs.{alias}.internal"
        )
        self._reader = Reader(self._here if location == "source" else self._there, topic)
        self._producer = Producer(lists.client(self._here, acks="all", **{"message.timeout.ms": 10000}))
        self._syncs, self._emitted = Syncs(), Emitted()
        self._every = {
            "emit": flow.seconds("emit.checkpoints.interval.seconds", 60.0),
            "sync": flow.seconds("sync.group.offsets.interval.seconds", 60.0),
        }
        now = time.monotonic()
        # A full interval passes before each first action.
        self._due = {kind: now + seconds for kind, seconds in self._every.items()}
        self._last: dict[str, list[Checkpoint]] = {}

    def pause(self) -> float:
        return max(0.0, min(self._due.values()) - time.monotonic())

    def close(self) -> None:
        self._reader.close()
        for view in self._views.values():
            view.close()

    def step(self, facts: dict[str, Any]) -> None:
        now = time.monotonic()
        due = [kind for kind, when in self._due.items() if when <= now]
        if "emit" in due:
            for message in self._reader.poll():
                if message.key() is not None and message.value() is not None:
                    self._syncs.add(read_sync(message.key(), message.value()))
            self._last = self._translate()
            facts["observations"] += 1
            if self._flow.truth("emit.checkpoints.enabled", True):
                facts["checkpoints"] += self._emit()
        if "sync" in due and self._flow.truth("sync.group.offsets.enabled", False):
            facts["commits"] += sum(self._commit(group, found) for group, found in self._last.items())
        for kind in due:
            self._due[kind] = now + self._every[kind]

    def _translate(self) -> dict[str, list[Checkpoint]]:
        """Current checkpoints by group: for groups on both lists and replicas on the reverse list."""
        for view in self._views.values():
            view.refresh()
        source, target = self._flow.source, self._flow.target
        both = (
            self._views[self._here].lists("groups", source, target),
            self._views[self._there].lists("groups", target, source),
        )
        replicas = self._views[self._here].lists("reverse-checkpointed-topics", source, target)
        found = defaultdict(list)
        for group in self._groups(both):
            for part in _offsets(self._admins[self._there], group):
                checkpoint = self._checkpoint(group, part, replicas)
                if checkpoint is not None:
                    found[group].append(checkpoint)
        return found

    def _groups(self, both: tuple[Lists, Lists]) -> list[str]:
        listed = self._admins[self._there].list_consumer_groups(request_timeout=SECONDS).result(SECONDS).valid
        names = sorted(item.group_id for item in listed)
        wanted = [name for name in names if all(item.match(name) for item in both)]
        return [name for name in wanted if not any(re.fullmatch(pattern, name) for pattern in GROUPS_EXCLUDE)]

    def _checkpoint(self, group: str, part: TopicPartition, replicas: Lists) -> Checkpoint | None:
        prefix = self._flow.target + self._separator
        if not part.topic.startswith(prefix) or not replicas.match(part.topic) or part.offset < 0:
            return None
        topic = part.topic.removeprefix(prefix)
        committed_offset = self._syncs.upstream(topic, part.partition, part.offset)
        return (
            None
            if committed_offset is None
            else Checkpoint(group, topic, part.partition, part.offset, committed_offset)
        )

    def _emit(self) -> int:
        """Send the due checkpoints and wait for their acknowledgements. Returns their number."""
        due = [item for found in self._last.values() for item in found if self._emitted.is_due(item)]
        problems: list[Any] = []
        for item in due:
            self._producer.produce(
                f"{self._flow.source}.checkpoints.internal",
                key=item.key(),
                value=item.value(),
                partition=0,
                on_delivery=lambda error, _message: problems.append(error) if error else None,
            )
        if self._producer.flush(SECONDS * 2) or problems:
            raise KafkaException(problems[0] if problems else KafkaError(KafkaError._MSG_TIMED_OUT))
        for item in due:
            self._emitted.add(item)
        return len(due)

    def _commit(self, group: str, found: list[Checkpoint]) -> int:
        admin = self._admins[self._here]
        state = admin.describe_consumer_groups([group], request_timeout=SECONDS)[group].result(SECONDS).state.name
        present = {(part.topic, part.partition): part.offset for part in _offsets(admin, group)}
        wanted = [
            TopicPartition(topic, number, offset) for (topic, number), offset in commits(found, state, present).items()
        ]
        if not wanted:
            return 0
        request = [ConsumerGroupTopicPartitions(group, wanted)]
        answers = admin.alter_consumer_group_offsets(request, request_timeout=SECONDS)
        done = answers[group].result(SECONDS)
        return sum(part.error is None for part in done.topic_partitions)


def _offsets(admin: AdminClient, group: str) -> list[TopicPartition]:
    answers = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)], request_timeout=SECONDS)
    try:
        return [part for part in answers[group].result(SECONDS).topic_partitions if part.offset >= 0]
    except KafkaException as error:
        if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
            return []
        raise
