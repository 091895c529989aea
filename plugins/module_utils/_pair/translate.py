# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The positions of every group on the side that it enters, with the evidence they rest on.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from .._core.errors import DrError
from .._core.gates import drained, open_transaction
from .._core.positions import Position, Side, enter_original, enter_replica
from .._core.translation import Translated
from .._core.verdict import PROVEN
from .._core.waiting import Bounds, wait_until
from .._kafka.groups import positions
from .._module import Result
from .clusters import both
from .copies import FlowCopies
from .observe import FlowLook, GroupLook, Pair, Partition

__all__ = ["Translation"]


class Translation:
    """One translation: X is the side being left, Y the one being entered.

    Refuses what would skip or be left to a reset. The settle time of idle groups runs from the moment of creation.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = params
        self.x, self.y = params["leave"], params["enter"]
        flows = [{"source": self.x, "target": self.y}, {"source": self.y, "target": self.x}]
        self.pair = Pair({**params, "flows": flows})
        self._since = time.monotonic()
        self._earlier = positions(self.pair.kafka[self.x], self.pair.groups)

    def run(self) -> Result:
        """Gather the evidence and find the positions."""
        forward, back = self._copied_looks()
        x_groups, y_groups = self._idle_groups()
        final = {key: self._final(forward, key) for key in forward.facts}
        translated = self._translated(forward, back, final, x_groups)
        y_ranges = self.pair.ranges(self.y, self._y_topics())
        rows = [
            row
            for group in self.pair.groups
            for row in self._group_rows(
                group, (x_groups[group], y_groups[group]), (forward, back), y_ranges, final, translated
            )
        ]
        extra = {
            "positions": _by_group(rows),
            "details": rows,
            "rereads": _total(rows),
            "records_read": sum(copies.records for copies in self.copies),
            "barrier": self._barrier(forward, back, x_groups, y_ranges),
        }
        result = Result(extra=extra, requests=self.pair.requests)
        result.failure = self._refusal(rows, forward)
        return result

    # ---- evidence

    def _copied_looks(self) -> tuple[FlowLook, FlowLook]:
        """Both flows; waits until every group's commit on X is copied, where no barrier makes the flow final."""
        bounds = Bounds(float(self.params["wait_timeout"]), float(self.params["wait_sleep"]))
        if self.params["barrier"]:
            forward, back = both(
                lambda: self.pair.look(self.x, self.y, tails=True), lambda: self.pair.look(self.y, self.x)
            )
            self._require_barrier(forward)
            return forward, back
        commits = self._x_commits()
        waited = wait_until(lambda: self.pair.look(self.x, self.y), lambda look: not _behind(look, commits), bounds)
        if not waited.done:
            behind = "; ".join(_behind(waited.state, commits)[:3])
            raise DrError(
                "not_copied",
                f"Waited {waited.seconds:.0f} s, the groups' positions are not yet copied: {behind}.",
                "Check the flow's source connector; then start the same playbook again.",
            )
        return waited.state, self.pair.look(self.y, self.x)

    def _require_barrier(self, forward: FlowLook) -> None:
        source = forward.connectors["source"]
        if not source.final:
            found = f"{source.state} with {len(source.tasks)} tasks"
            raise DrError(
                "no_barrier",
                f'The connector "{source.name}" is {found}, wanted STOPPED with none.',
                "Its copied offsets are not final before that. Stop it, or translate without a barrier.",
            )
        open_ = [
            f"{topic}-{partition}: {finding.reason}"
            for (topic, partition), facts in sorted(forward.facts.items())
            if (finding := drained(facts)).verdict != PROVEN
        ]
        # Its records would be copied later, behind positions that say that everything was read (SOUNDNESS 5).
        open_ += [
            f"{topic}-{partition}: an open transaction holds back {open_transaction(facts)} offsets"
            for (topic, partition), facts in sorted(forward.facts.items())
            if open_transaction(facts)
        ]
        if open_:
            raise DrError(
                "not_drained",
                f"{len(open_)} partitions of {forward.name} are not copied to their end: {'; '.join(open_[:3])}.",
                "Resume the flow and let it drain before the barrier.",
            )

    def _x_commits(self) -> dict[Partition, int]:
        looks = self.pair.look_groups(self.x, self.pair.topics)
        commits: dict[Partition, int] = {}
        for look in looks.values():
            for key, commit in look.commits.items():
                commits[key] = max(commit, commits.get(key, 0))
        return commits

    def _final(self, forward: FlowLook, key: Partition) -> bool:
        return forward.connectors["source"].final and drained(forward.facts[key]).verdict == PROVEN

    def _y_topics(self) -> list[str]:
        return list(
            dict.fromkeys([*self.pair.topics, *(self.pair.naming.replica(self.x, t) for t in self.pair.topics)])
        )

    def _idle_groups(self) -> tuple[dict[str, GroupLook], dict[str, GroupLook]]:
        """Groups on both sides. They must be idle: no members on either, X's commits unchanged over a settle time."""
        x_topics = [name for name, count in self.pair.partitions(self.x).items() if count is not None]
        y_topics = [name for name in self._y_topics() if self.pair.partitions(self.y).get(name) is not None]
        # An assign() reader looks EMPTY too: only its moving commits betray it (SOUNDNESS 9).
        time.sleep(max(0.0, float(self.params["settle"]) - (time.monotonic() - self._since)))
        x_groups, y_groups = both(
            lambda: self.pair.look_groups(self.x, x_topics), lambda: self.pair.look_groups(self.y, y_topics)
        )
        for alias, looks in ((self.x, x_groups), (self.y, y_groups)):
            active = sorted(group for group, look in looks.items() if look.state not in ("EMPTY", "DEAD"))
            if active:
                names = ", ".join(f"{group} ({looks[group].state})" for group in active)
                raise DrError(
                    "group_active",
                    f"{len(active)} groups still have members on {alias}: {names}.",
                    "Stop their consumers first. Nothing was committed.",
                )
        for group, look in x_groups.items():
            moved = [key for key, commit in look.commits.items() if self._earlier[group].get(key) != commit]
            if moved:
                topic, partition = moved[0]
                raise DrError(
                    "group_active",
                    f'The group "{group}" has no members on {self.x}, but its position on {topic}-{partition} moved.',
                    "A reader with assign() commits for it. Stop it first. Nothing was committed.",
                )
        return x_groups, y_groups

    # ---- positions

    def _translated(
        self, forward: FlowLook, back: FlowLook, final: Mapping[Partition, bool], x_groups: Mapping[str, GroupLook]
    ) -> tuple[dict[Any, Translated], dict[Any, Translated]]:
        """Forward and in reverse, by (source partition, position): only what the ends of the logs do not decide."""
        wanted: dict[Partition, set[int]] = {}
        mirrored: dict[Partition, set[int]] = {}
        for group, look in x_groups.items():
            topics = self.pair.topics_of(group, self.x, look.commits)
            for key, facts in forward.facts.items():
                commit = look.commits.get(key)
                to_end = look.read_to_end.get(key) and final[key]
                if key[0] in topics and commit is not None and not to_end and commit <= (facts.end or 0):
                    wanted.setdefault(key, set()).add(commit)
            for key in back.facts:
                replica = (self.pair.naming.replica(self.y, key[0]), key[1])
                commit = look.commits.get(replica)
                to_end = look.read_to_end.get(replica) and drained(back.facts[key]).verdict == PROVEN
                if key[0] in topics and commit is not None and not to_end:
                    mirrored.setdefault(key, set()).add(commit)
        ids = self.params["topic_ids"]
        self.copies = (FlowCopies(self.pair, forward, ids), FlowCopies(self.pair, back, ids))
        for copies in self.copies:
            copies.check_topics()
        return both(lambda: self.copies[0].forward(wanted), lambda: self.copies[1].reverse(mirrored))

    def _group_rows(
        self,
        group: str,
        looks: tuple[GroupLook, GroupLook],
        flows: tuple[FlowLook, FlowLook],
        y_ranges: Mapping[Partition, tuple[int, int]],
        final: Mapping[Partition, bool],
        translated: tuple[Mapping[Any, Translated], Mapping[Any, Translated]],
    ) -> list[dict[str, Any]]:
        (x_look, y_look), (forward, back) = looks, flows
        naming, vouched = self.pair.naming, self.params["vouched"].get(group, {})
        topics = set(self.pair.topics_of(group, self.x, x_look.commits))
        rows = []
        for key, facts in sorted(forward.facts.items()):
            topic, partition = key
            if topic not in topics:
                continue
            left = Side(x_look.commits.get(key), facts.start, facts.end, x_look.read_to_end.get(key))
            replica = (naming.replica(self.x, topic), partition)
            there = translated[0].get((key, left.commit))
            found = enter_replica(left, _side(y_look, y_ranges, replica), final[key], there)
            mm2 = None if there is None or left.commit is None else self.copies[0].checkpoint(key, left.commit)
            rows.append({**_row(group, replica, found, y_look), "checkpoint": mm2})
        for key in sorted(key for key in back.facts if key[0] in topics):
            topic, partition = key
            mirrored = (naming.replica(self.y, topic), partition)
            start, end = y_ranges[key]
            own = vouched.get(topic, {}).get(str(partition))
            left = Side(x_look.commits.get(mirrored), start, end, x_look.read_to_end.get(mirrored))
            # What was written since that look (by whom?) is not known to be copied.
            copied = drained(back.facts[key]).verdict == PROVEN and back.facts[key].end == end
            found = enter_original(left, Side(own, start, end), copied, translated[1].get((key, left.commit)))
            # MirrorMaker 2 translates nothing in this direction.
            rows.append({**_row(group, key, found, y_look), "checkpoint": None})
        return rows

    def _refusal(self, rows: list[dict[str, Any]], forward: FlowLook) -> DrError | None:
        unknown = [row for row in rows if row["offset"] is None]
        if unknown:
            first = unknown[0]
            return DrError(
                "no_position",
                f'{len(unknown)} positions could not be found; group "{first["group"]}" on'
                f" {first['topic']}-{first['partition']}: {first['reason']}.",
                "Without one, auto.offset.reset would decide. Commit a position on the side being left first.",
            )
        inexact = [row for row in rows if row["quality"] != "exact"]
        if inexact and self.params["group_lag"] == "refuse":
            first = inexact[0]
            return DrError(
                "group_behind",
                f'{len(inexact)} positions are not exact; group "{first["group"]}" on {first["topic"]}-'
                f"{first['partition']}: {first['method']}, up to {first['rereads']} records again ({first['reason']}).",
                "Let the groups read to the end first, or accept the re-reads with group_lag: reread.",
            )
        return None

    def _barrier(
        self,
        forward: FlowLook,
        back: FlowLook,
        x_groups: Mapping[str, GroupLook],
        y_ranges: Mapping[Partition, tuple[int, int]],
    ) -> dict[str, Any]:
        """What cannot be read again later: N, S, E of X, the cut C = E of Y's originals, positions on X."""
        return {
            "copied": _nested({key: facts.copied for key, facts in forward.facts.items()}),
            "starts": _nested({key: facts.start for key, facts in forward.facts.items()}),
            "ends": _nested({key: facts.end for key, facts in forward.facts.items()}),
            "cut": _nested({key: y_ranges[key][1] for key in back.facts}),
            "positions": {group: _nested(look.commits) for group, look in x_groups.items()},
        }


def _behind(look: FlowLook, commits: Mapping[Partition, int]) -> list[str]:
    """Partitions whose copy has not reached a group's commit: N >= commit - 1, or nothing but markers waits."""
    texts = []
    for (topic, partition), commit in sorted(commits.items()):
        facts = look.facts.get((topic, partition))
        if facts is None or (facts.copied is not None and facts.copied >= commit - 1) or facts.data_after is False:
            continue
        if commit > (facts.start or 0):
            texts.append(f"{topic}-{partition} copied {facts.copied}, position {commit}")
    return texts


def _side(look: GroupLook, ranges: Mapping[Partition, tuple[int, int]], key: Partition) -> Side:
    start, end = ranges.get(key, (None, None))
    return Side(look.commits.get(key), start, end)


def _row(group: str, key: Partition, found: Position, y_look: GroupLook) -> dict[str, Any]:
    return {
        "group": group,
        "topic": key[0],
        "partition": key[1],
        "offset": found.offset,
        "method": found.method,
        "quality": found.quality,
        "rereads": found.rereads,
        "reason": found.reason,
        "existing": y_look.commits.get(key),
    }


def _by_group(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The shape that ``kafka_group`` takes."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["offset"] is not None:
            position = {"topic": row["topic"], "partition": row["partition"], "offset": row["offset"]}
            groups.setdefault(row["group"], []).append(position)
    return [{"group": group, "positions": positions} for group, positions in groups.items()]


def _total(rows: list[dict[str, Any]]) -> int | None:
    counts = [row["rereads"] for row in rows]
    return None if None in counts else sum(counts)


def _nested(values: Mapping[Partition, Any]) -> dict[str, dict[str, Any]]:
    """{(topic, partition): v} as {topic: {"partition": v}}: what JSON can carry."""
    nested: dict[str, dict[str, Any]] = {}
    for (topic, partition), value in sorted(values.items()):
        nested.setdefault(topic, {})[str(partition)] = value
    return nested
