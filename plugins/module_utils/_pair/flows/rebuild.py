# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another, empty cluster stands where one side of a pair was: forget what was known of the lost one, and nothing else.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..._core.changes import Change, Outcome
from ..._core.errors import DrError
from ..._core.names import Naming
from ..._core.offsets.disaster import loss_lines
from ..._core.offsets.tenures import nested
from ..._core.resources.acl import Acl, failure_of, plan
from ..._engines.opening import open_engine
from ..._kafka import acls as kafka_acls
from ..._kafka.latest import read_latest, write_latest
from ..._kafka.topics import describe, log_ranges
from ..._module import Result
from ..connections.clusters import connect_pair
from ..journal.copies import read_copy
from ..journal.events import note
from ..journal.leases import open_leases_of, unfinished_replays
from ..journal.request import JournalRequest

__all__ = ["rebuild"]


def rebuild(params: Mapping[str, Any], check: bool) -> Result:
    """Refuse whatever is not an empty cluster; then flows, scheduled job and journal begin anew with it.

    The flows stand still, in the state ``rebuild`` of :mod:`._core.flow_goals`. The journal comes last: until
    then the same call does it all again, afterwards it changes nothing and the pair waits to be enabled.
    """
    work = _Rebuild(params)
    result = Result(extra={"replaced": False, "lost": [], "only_here": {}, "rights": 0})
    if not work.forgotten:
        work.require_empty()
        result.warnings = work.warnings()
        result.extra["lost"] = loss_lines(work.loss) if work.loss else []
        result.outcomes = work.rights(check)
        result.failure = failure_of(result.outcomes, work.kafka[work.gone].bootstrap_servers)
        result.extra["rights"] = len(result.outcomes)
        if result.failure is None:
            result.outcomes += work.engine.forget(work.gone, work.here, check)
            only_here = work.only_here()
            result.extra.update(replaced=True, only_here=only_here)
            result.outcomes += work.forget(check)
            result.outcomes += work.journal("replaced", {"alias": work.gone, "only_here": only_here}, check).outcomes
    result.requests = work.requests
    return result


class _Rebuild:
    """``gone``: the alias of the lost side, ``here``: of the side where the applications live."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self.gone = params["replaced"]
        others = [alias for alias in params["clusters"] if alias != self.gone]
        if len(others) != 1 or self.gone not in params["clusters"]:
            known = ", ".join(params["clusters"])
            raise DrError("bad_option", f'replaced is "{self.gone}", wanted one of two clusters, found {known}.')
        self.here = others[0]
        timeout = float(params["request_timeout"])
        self.kafka = connect_pair(params["clusters"], timeout)
        self.naming = Naming(params["policy"], params["separator"])
        self.engine = open_engine(params["clusters"], self.naming, self.kafka, timeout)
        self.state: dict[str, Any] = self.journal("read", {}, True).extra["state"]
        self._require_fit()

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Every request sent so far, without secrets."""
        return [*(one for kafka in self.kafka.values() for one in kafka.requests), *self.engine.requests]

    def journal(self, event: str, data: Mapping[str, Any], check: bool) -> Result:
        """Of the surviving side alone: the new cluster gets its copy when the pair is enabled."""
        return note(JournalRequest.of_parts(self._params, event, data, (self.here,)), check)

    @property
    def forgotten(self) -> bool:
        """It was done before; the new cluster has not been enabled yet."""
        return self.gone not in self.state["topic_ids"]

    @property
    def loss(self) -> Any:
        """What the disaster said of the lost side's tail."""
        return (self.state["left"].get(self.gone) or {}).get("loss")

    @property
    def _held(self) -> str:
        return (self._params.get("guard") or {}).get("lease") or ""

    # ---- what must be so

    def _require_fit(self) -> None:
        state = self.state
        if not state["enabled"]:
            raise DrError(
                "not_enabled",
                f"The journal on {self.here} knows no enabled pair {self._params['pair']}.",
                f"A side is made again from the other one. If {self.here} is the new cluster, confirm that alias; if"
                " there was no pair yet, run the playbook enable.",
            )
        if state["interrupted"]:
            run = state["run"]
            raise DrError(
                "run_interrupted",
                f"The {run['type']} run {run['id']} from {run['from']} to {run['to']} has not ended.",
                "Start it again with its own playbook first, or abandon it.",
            )
        if state["active"] != self.here:
            raise DrError(
                "applications_there",
                f"The applications live on {state['active']}, says the journal on {self.here}.",
                f"A side is made again from the other one. If {self.gone} is lost, run failover_disaster first.",
            )
        kafkas = {self.here: self.kafka[self.here]}
        for lease in open_leases_of(kafkas, self._params["state_topic"], self._params["pair"], self._held):
            if lease.run != self._params["take_over"]:
                raise DrError(
                    "lease_held",
                    f"The {lease.kind} {lease.run} is at work on this pair.",
                    "Start again when it has ended. If you have made sure that its process has ended, start again with"
                    f" -e kafka_dr_take_over={lease.run}.",
                )

    def require_empty(self) -> None:
        """Another cluster, or the same one without anything of before."""
        kafka = self.kafka[self.gone]
        names = self._names()
        found = {name: state for name, state in describe(kafka, names).items() if state is not None}
        known = self.state["topic_ids"].get(self.gone, {})
        same = [name for name, state in found.items() if known.get(name) == state.topic_id]
        if same:
            raise DrError(
                "not_replaced",
                f'"{same[0]}" on {self.gone} is the topic that the journal knows (id {known[same[0]]}):'
                f" this is the cluster of before, cluster id {kafka.cluster_id}.",
                "Nothing is to be made again. Run the playbook salvage to bring over what it had never sent, then"
                " enable.",
                kafka.bootstrap_servers,
            )
        keys = {(name, index) for name, state in found.items() for index in range(state.partitions)}
        held = {key: end for key, (_start, end) in log_ranges(kafka, keys, "read_uncommitted").items() if end}
        if held:
            topic, index = min(held)
            raise DrError(
                "not_empty",
                f"{len(held)} partitions on {self.gone} have been written: {topic}-{index} ends at"
                f" {held[topic, index]}.",
                f"Whether {self.here} has those records is not known. Delete these topics if they are of no worth, or"
                " take an empty cluster.",
                kafka.bootstrap_servers,
            )
        if read_copy(kafka, self._params["topic"], self._params["pair"]):
            raise DrError(
                "not_empty",
                f"{self.gone} has a journal of the pair {self._params['pair']}.",
                f'Delete the topic "{self._params["topic"]}" there if it came from a backup.',
                kafka.bootstrap_servers,
            )

    def _names(self) -> list[str]:
        originals = list(self._params["topics"])
        return list(dict.fromkeys([*originals, *(self.naming.replica(self.here, name) for name in originals)]))

    def warnings(self) -> list[str]:
        """What is given up with the lost side."""
        here = {self.here: self.kafka[self.here]}
        begun = unfinished_replays(here, self._params["state_topic"], self._params["pair"])
        text = f"The tail of {', '.join(begun[:5])} was being brought over: the rest of it is lost with {self.gone}."
        return [text] if begun else []

    # ---- what is made anew

    def rights(self, check: bool) -> list[Outcome]:
        """The applications' rights on the new cluster, as they are on the surviving one; replicas by their new name."""
        principals = list(self._params["principals"])
        try:
            there = kafka_acls.describe(self.kafka[self.here], principals) if principals else set()
        except DrError as error:
            if error.code != "no_authorizer":
                raise
            return []
        wanted = {self._renamed(acl) for acl in there}
        if not wanted:
            return []
        kafka = self.kafka[self.gone]
        return kafka_acls.apply(kafka, plan(wanted, kafka_acls.describe(kafka, principals), "present"), check)

    def _renamed(self, acl: Acl) -> Acl:
        before, now = (f"{alias}{self._params['separator']}" for alias in (self.gone, self.here))
        if self.naming.policy == "identity" or acl.resource_type != "topic" or not acl.name.startswith(before):
            return acl
        return replace(acl, name=now + acl.name.removeprefix(before))

    def only_here(self) -> dict[str, dict[str, dict[str, int]]]:
        """Ends of the replicas: what lies below came from the lost cluster, and the new one will never have it."""
        if self.naming.policy == "identity":
            return {}
        kafka = self.kafka[self.here]
        replicas = [self.naming.replica(self.gone, name) for name in self._params["topics"]]
        found = {name: state for name, state in describe(kafka, replicas).items() if state is not None}
        keys = {(name, index) for name, state in found.items() for index in range(state.partitions)}
        ends = {key: end for key, (start, end) in log_ranges(kafka, keys, "read_uncommitted").items() if end > start}
        return {self.here: nested(ends)} if ends else {}

    @cached_property
    def _stale(self) -> list[str]:
        """Prepared positions, leases and replays of the pair: of what they are about one end is gone."""
        values = read_latest(self.kafka[self.here], self._params["state_topic"]) or {}
        ours = {key: value for key, value in values.items() if value.get("pair") == self._params["pair"]}
        # The lease under which this is done is ended when all is done.
        return sorted(key for key, value in ours.items() if "run" not in value or value["run"] != self._held)

    def forget(self, check: bool) -> list[Outcome]:
        """Positions that the scheduled job has prepared, and how far replays came."""
        if not self._stale:
            return []
        if not check:
            write_latest(self.kafka[self.here], self._params["state_topic"], dict.fromkeys(self._stale))
        change = Change("state", self._params["pair"], "delete", {"keys": self._stale}, None)
        return [Outcome(change, "planned" if check else "done")]
