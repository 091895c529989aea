# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make chaos: cutovers under load that are killed, or whose clusters fail, and are started again. It prints a table.

Each trip begins with a fault at a moment of one run. The same playbook is then started until it succeeds. Ledgers count
lost records and records processed twice. A cluster fault may make MirrorMaker 2 send records again, and those are
counted separately (docs/limits.md). ``--only=REGEX`` selects the faults whose world and name match, ``--seed=N``
repeats the random moments. The world ``strimzi`` needs the programs that ``make kubernetes`` builds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/support", "roles/lab/files", "build/collections")]

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.cutover_types import CUTOVER_TYPES  # noqa: E402
from disasters import PARTS, give_back, lose  # noqa: E402 - beside the path above
from frozen import Frozen, another_controller, undecided_run, wake  # noqa: E402 - beside the path above
from hurts import LeftOpen, delete_topic, hold_copies  # noqa: E402 - beside the path above
from interrupted import end_all_on_signals  # noqa: E402 - beside the path above
from kills import NO_RETURN, beginning, disturbed, kill, outwait, playbooks_alive  # noqa: E402 - beside the path above
from kube_apiserver import missing  # noqa: E402 - beside the path above
from kube_faults import AWAY, FROZEN, PAUSED, RESTARTED, late  # noqa: E402 - beside the path above
from lab.lab import Lab  # noqa: E402 - the lab is a program of its role
from scenario import Scenario, totals  # noqa: E402

FOLDER = ROOT / "build" / "chaos"
CLIENTS: list[dict[str, Any]] = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "ledger-tx", "role": "transactional", "rate": 100, "abort_share": 0.2, "transaction_size": 20},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
# Policy and engine of each pair, by the name of its world.
WORLDS = {"default": ("default", "connect"), "identity": ("identity", "connect"), "strimzi": ("default", "strimzi")}
RANDOM = 5
STARTS = 4
# Faults for each pair. After each one, everything that its clients ever wrote and read is compared.
TRIPS = 14
PAUSE = 8.0
# Longer than the time-out of a request: its answer comes when the caller has given up.
LONG_PAUSE = 25.0
# Seconds after which brokers abort a transaction: one that a run may outlast, and one that only its producer ends.
SHORT_TRANSACTION, LONG_TRANSACTION = 45.0, 600.0
# What a run prints that does not pass an open transaction: preflight, and the drain.
HELD_UP = ("a transaction stays open at offset", "an open transaction holds back")
KUBE_FAULTS = {
    # With the seconds that each lasts.
    "operators paused for 30 s": (PAUSED, 30.0),
    "operators restarted": (RESTARTED, 0.0),
    "operators slow by 30 s": (late(30.0), 120.0),
    "API server away for 25 s": (AWAY, LONG_PAUSE),
    "API server frozen for 25 s": (FROZEN, LONG_PAUSE),
}
HARM = ("lost", "phantom", "processed_twice")
Act = Callable[[subprocess.Popen[bytes]], None]


@dataclass(frozen=True)
class ChaosFault:
    """A fault and its moment:

    ``delay`` seconds after ``trigger`` appears in the output of a cutover of type ``kind``.
    """

    name: str
    kind: str
    trigger: str
    delay: float = 0.0
    # Of the lab, "return", "copies", "journal", or "kubernetes" with a name in KUBE_FAULTS. None: the run is killed.
    part: tuple[str, str] | None = None
    pause: bool = False
    # Seconds until the part is repaired.
    lasts: float = PAUSE
    # A producer is killed within a transaction on the cluster being left, with this time-out. 0: none.
    transaction: float = 0.0
    # The controller freezes, another one takes over, the applications move once more, and the first one wakes up.
    frozen: bool = False


@dataclass
class Trip:
    """The result of a fault."""

    fault: ChaosFault
    to: str
    struck: bool
    orphans: int
    starts: int
    outcome: str
    verdict: str
    seconds: float
    harm: dict[str, int] = field(default_factory=dict)
    # Changes made by a controller that woke up.
    effects: list[str] = field(default_factory=list)
    # The type of the cutover that moved the applications: not that of the fault if a lost cluster came back in time.
    moved_by: str = ""

    @property
    def good(self) -> bool:
        """Completed without a loss, and without duplicates if only the playbook was killed and no cluster was lost."""
        harmful = HARM if self.fault.part is None and self.fault.kind != "disaster" else HARM[:2]
        done = self.outcome == "completed" and not self.effects
        return done and not any(self.harm[name] for name in harmful)


def faults(world: str, draw: random.Random) -> list[ChaosFault]:
    """Every phase of every type, the moments of important writes, random moments, and cluster faults."""
    phases = {name: list(kind.phases) for name, kind in CUTOVER_TYPES.items()}
    if world == "strimzi":
        return kubernetes(phases["cutoff"], draw)
    kinds = ["cutoff"] if world == "identity" else [kind for kind in phases if kind != "disaster"]
    found = [ChaosFault(f"{kind}: kill at {phase}", kind, beginning(phase)) for kind in kinds for phase in phases[kind]]
    for kind in kinds:
        trigger, delay = ": Commit the offsets and read them back]", draw.uniform(0.02, 0.4)
        found.append(ChaosFault(f"{kind}: kill in the commit", kind, trigger, delay))
        trigger, delay = ": End the last phase]", draw.uniform(0.02, 0.4)
        found.append(ChaosFault(f"{kind}: kill at the last event", kind, trigger, delay))
        for number in range(RANDOM):
            delay = draw.uniform(0.5, 16.0)
            found.append(ChaosFault(f"{kind}: kill at a random moment {number + 1}", kind, "PLAY [", delay))
    found += disasters(phases["disaster"])
    found += [
        ChaosFault(f"{kind}: frozen at {phase}", kind, beginning(phase), frozen=True)
        for kind in [*kinds, "disaster"]
        for phase in phases[kind]
    ]
    found += [
        ChaosFault(f"cutoff: transaction left open at {at} for {seconds:.0f} s", "cutoff", trigger, transaction=seconds)
        for at, trigger, seconds in (
            ("the start", "", LONG_TRANSACTION),
            ("stop_producers", beginning("stop_producers"), LONG_TRANSACTION),
            # The drain outlasts this one.
            ("stop_producers", beginning("stop_producers"), SHORT_TRANSACTION),
        )
    ]
    moments = (("the point of no return", NO_RETURN),)
    found += [
        ChaosFault(f"{kind}: frozen after {what}", kind, trigger, frozen=True)
        for kind in kinds
        for what, trigger in moments
    ]
    if world == "identity":
        delay = draw.uniform(0.02, 0.6)
        return [
            *found,
            ChaosFault(
                "cutoff: kill in the PATCH of the offsets",
                "cutoff",
                ": Write the start offsets of the flow back]",
                delay,
            ),
        ]
    hurt = [
        (alias, part, pause, lasts)
        for alias in ("left", "entered")
        for part, pause, lasts in (
            ("broker", True, PAUSE),
            ("broker", True, LONG_PAUSE),
            ("broker", False, PAUSE),
            ("connect", False, PAUSE),
        )
    ]
    for alias, part, pause, lasts in hurt:
        phase = draw.choice(phases["cutoff"])
        what = f"{'pause' if pause else 'kill'} {part} of the side {alias} for {lasts:.0f} s"
        name = f"cutoff: {what} at {phase}"
        found.append(ChaosFault(name, "cutoff", beginning(phase), 0.0, (alias, part), pause, lasts))
    for part, what in (("copies", "RUNNING but copying nothing"), ("journal", "the journal's topic deleted")):
        for phase in (phases["cutoff"][0], draw.choice(phases["cutoff"][3:])):
            name = f"cutoff: {what} at {phase}"
            found.append(ChaosFault(name, "cutoff", beginning(phase), 0.0, ("entered", part)))
    return found


def disasters(phases: list[str]) -> list[ChaosFault]:
    """P is lost, and the run away from it is killed, or P comes back before, at and after the point of no return."""
    found = [ChaosFault(f"disaster: kill at {phase}", "disaster", beginning(phase)) for phase in phases]
    moments = (phases[0], phases[2], phases[3])
    return [
        *found,
        *(
            ChaosFault(f"disaster: P returns at {at}", "disaster", beginning(at), 0.0, ("left", "return"))
            for at in moments
        ),
    ]


def kubernetes(phases: list[str], draw: random.Random) -> list[ChaosFault]:
    """A run on the engine ``strimzi`` is killed in each phase, or the operators or the API server fail."""
    found = [ChaosFault(f"cutoff: kill at {phase}", "cutoff", beginning(phase)) for phase in phases]
    for what, (_kube_fault, lasts) in KUBE_FAULTS.items():
        for phase in ("barrier", draw.choice([phase for phase in phases if phase != "barrier"])):
            name = f"cutoff: {what} at {phase}"
            found.append(ChaosFault(name, "cutoff", beginning(phase), part=("kubernetes", what), lasts=lasts))
    return found


class Chaos:
    """One pair that moves back and forth."""

    def __init__(self, world: str) -> None:
        policy, engine = WORLDS[world]
        self.pair = Scenario(FOLDER / world, clients=CLIENTS, policy=policy, engine=engine, say=say)
        self._lab = Lab(self.pair.folder)
        self._active = "P"
        self._before = dict.fromkeys(HARM, 0)

    def up(self) -> None:
        """The pair, enabled and under load."""
        self.pair.lab_up()
        self.pair.playbook("enable", {"kafka_dr_confirm": "P"})
        self.pair.start()

    def trip(self, fault: ChaosFault) -> Trip:
        """Move to the other cluster, with the fault on the way. After a disaster, move home again at once."""
        if fault.kind == "disaster" and self._active == "B":
            self._move("failback", "P")
        if fault.frozen:
            return self._frozen(fault)
        done = self._trip(fault)
        if fault.kind == "disaster" and done.outcome == "completed":
            for part in PARTS:
                self._lab.start("P", part)
            self.pair.traffic(1000)
            if done.moved_by == "disaster":
                give_back(self.pair)
            done.harm = self._harm()
            self._move("failback", "P")
            home = self._harm()
            done.harm = {name: done.harm[name] + home[name] for name in HARM}
        elif done.outcome == "completed":
            done.harm = self._harm()
        return done

    def _frozen(self, fault: ChaosFault) -> Trip:
        """Another controller moves the applications there and back, and then the first one wakes up."""
        pair, left = self.pair, self._active
        entered = "B" if left == "P" else "P"
        pair.traffic(500)
        if fault.kind == "disaster":
            lose(pair, 1.0)
        playbook = "failback" if entered == "P" else f"failover_{fault.kind}"
        variables = {"kafka_dr_confirm": entered, "kafka_dr_to": entered}
        variables |= {"kafka_dr_type": fault.kind} if entered == "P" else {}
        began = time.monotonic()
        frozen = Frozen(pair, fault.trigger, playbook, variables)
        try:
            with another_controller(pair):
                refused = pair.playbook(playbook, variables, expect=2)
                over = {"kafka_dr_take_over": undecided_run(refused["output"])}
                pair.playbook(playbook, {**variables, **over})
                self._active = entered
                if fault.kind == "disaster":
                    for part in PARTS:
                        self._lab.start("P", part)
                pair.traffic(500)
                if fault.kind == "disaster":
                    give_back(pair)
                self._move("failback" if left == "P" else "failover_cutoff", left)
            rc, output, effects = wake(pair, frozen)
        finally:
            frozen.end()
        pair.start()
        outcome = "completed" if rc != 0 and "run_superseded" in output else f"woke up and ended with {rc}"
        if outcome != "completed":
            # What the controller reported after it woke up explains a bad trip, and no other file has it.
            FOLDER.mkdir(parents=True, exist_ok=True)
            (FOLDER / f"{fault.name.replace(': ', '-').replace(' ', '-')}.log").write_text(output)
        seconds = time.monotonic() - began
        return Trip(fault, entered, True, 0, 2, outcome, "", seconds, self._harm(), effects)

    def _move(self, playbook: str, to: str) -> None:
        self.pair.playbook(playbook, {"kafka_dr_confirm": to, "kafka_dr_to": to})
        self._active = to

    def _trip(self, fault: ChaosFault) -> Trip:
        pair, left = self.pair, self._active
        entered = "B" if left == "P" else "P"
        pair.traffic(1000)
        if fault.kind == "disaster":
            lose(pair, 1.0)
        struck: list[int] = []
        began = time.monotonic()
        variables = {"kafka_dr_confirm": entered, "kafka_dr_to": entered}
        variables |= {"kafka_dr_type": fault.kind} if entered == "P" else {}
        playbook = "failback" if entered == "P" else f"failover_{fault.kind}"
        acting = _Acting(pair, self._lab, fault, {"left": left, "entered": entered}, struck)
        with acting as act:
            rc, output = disturbed(pair, fault.trigger, playbook, variables, act, fault.delay)
            bad = acting.passed_transaction(rc, output)
        starts, kind = 1, fault.kind
        if rc != 0 and fault.part == ("left", "return") and pair.report(kind, entered)["outcome"] == "undone":
            # R47: P responds again before the point of no return. The refusal names the planned move.
            kind, playbook = "cutoff", "failover_cutoff"
        while rc != 0 and starts < STARTS:
            if fault.part and fault.part[1] == "journal":
                # The text of the error says so. It creates the topic, and leaves the rest to the unfinished run.
                pair.playbook("enable", {"kafka_dr_confirm": "P"}, expect=None)
            rc = pair.playbook(playbook, variables, expect=None)["rc"]
            starts += 1
        seconds = time.monotonic() - began
        outwait(pair)
        report = pair.report(kind, entered)
        # A run that was killed after its last event has nothing left to do.
        outcome = {"already_there": "completed"}.get(report["outcome"], report["outcome"]) if rc == 0 else f"exit {rc}"
        self._active = entered if outcome == "completed" else left
        outcome, verdict = bad or outcome, report["verdict"]
        return Trip(fault, entered, bool(struck), sum(struck), starts, outcome, verdict, seconds, moved_by=kind)

    def _harm(self) -> dict[str, int]:
        """The ledgers' counts since the last call."""
        self.pair.traffic(500)
        self.pair.stop()
        counted = totals(self.pair.check())
        self.pair.start()
        new = {name: counted[name] - self._before[name] for name in HARM}
        self._before = {name: counted[name] for name in HARM}
        return new


class _Acting:
    """Applies a fault, and repairs the lab afterwards."""

    def __init__(self, pair: Scenario, lab: Lab, fault: ChaosFault, sides: dict[str, str], struck: list[int]) -> None:
        self._pair, self._lab, self._fault, self._struck = pair, lab, fault, struck
        self._part = fault.part and (sides.get(fault.part[0], fault.part[0]), fault.part[1])
        self._repair_thread: threading.Thread | None = None
        self._copy = "Payments" if pair.policy == "identity" else f"{sides['left']}.Payments"
        self._transaction = LeftOpen(lab, sides["left"], "Payments", fault.transaction) if fault.transaction else None

    def __enter__(self) -> Act:
        return self._act

    def __exit__(self, *_error: object) -> None:
        if self._transaction is not None:
            self._transaction.end()
        if self._repair_thread is not None:
            self._repair_thread.join()

    def passed_transaction(self, rc: int, output: str) -> str:
        """Say what is wrong with a run that has met an open transaction; "": nothing. End one with a long time-out."""
        transaction = self._transaction
        if transaction is None or not transaction.is_open:
            return ""
        if self._fault.transaction == LONG_TRANSACTION:
            transaction.come_back()
        if rc == 0:
            return "completed with an open transaction"
        words = " ".join(output.split())
        return "" if any(reason in words for reason in HELD_UP) else "failed without naming the transaction"

    def _act(self, run: subprocess.Popen[bytes]) -> None:
        if self._transaction is not None:
            self._transaction.write()
            self._struck.append(0)
            return
        if self._part is None:
            kill(run)
            run.wait()
            self._struck.append(len(playbooks_alive(self._pair)))
            return
        self._struck.append(0)
        alias, part = self._part
        if part == "return":
            for each in PARTS:
                self._lab.start(alias, each)
        elif part == "journal":
            delete_topic(self._lab, alias, "kafka-dr-journal-internal")
        else:
            self._hurt(alias, part)
            self._repair_thread = threading.Thread(target=self._repair, args=(alias, part))
            self._repair_thread.start()

    def _hurt(self, alias: str, part: str) -> None:
        if self._pair.kubernetes and part in KUBE_FAULTS:
            KUBE_FAULTS[part][0].begin(self._pair.kubernetes)
        elif part == "copies":
            hold_copies(self._lab, alias, self._copy, hold=True)
        elif self._fault.pause:
            self._lab.pause(alias, part)
        else:
            self._lab.kill(alias, part)

    def _repair(self, alias: str, part: str) -> None:
        """The fault lasts that long: the run must survive it or be resumed."""
        time.sleep(self._fault.lasts)
        if self._pair.kubernetes and part in KUBE_FAULTS:
            KUBE_FAULTS[part][0].end(self._pair.kubernetes)
        elif part == "copies":
            hold_copies(self._lab, alias, self._copy, hold=False)
        elif self._fault.pause:
            self._lab.resume(alias, part)
        else:
            self._lab.start(alias, part)


def run(world: str, wanted: list[ChaosFault]) -> Iterator[Trip]:
    """Run all these faults in one world, one after the other on pairs that make some of them each."""
    for first in range(0, len(wanted), TRIPS):
        chaos = Chaos(world)
        try:
            chaos.up()
            for number, fault in enumerate(wanted[first : first + TRIPS], first + 1):
                trip = chaos.trip(fault)
                say(f"{world} {number}/{len(wanted)} {line(trip)}")
                yield trip
                if trip.outcome != "completed":
                    say("the pair is not where it should be: the rest of this world is left out")
                    return
        finally:
            chaos.pair.lab_down()


def line(trip: Trip) -> str:
    """One line for people."""
    what = trip.fault.name if trip.struck else f"{trip.fault.name} (too late: the run had ended)"
    harm = ", ".join(f"{name} {trip.harm.get(name, 'not counted')}" for name in HARM)
    end = f"{trip.outcome} after {trip.starts} starts, {trip.seconds:.0f} s; {harm}; orphans {trip.orphans}"
    end += f"; effects {len(trip.effects)}: {trip.effects[:3]}" if trip.fault.frozen else ""
    return f"{'ok ' if trip.good else 'BAD'} {what} to {trip.to}: {end}"


def row(world: str, trip: Trip) -> dict[str, Any]:
    """One row of the report."""
    names = ("struck", "to", "outcome", "starts", "verdict", "seconds", "orphans", "effects")
    seen = {name: getattr(trip, name) for name in names}
    return {"world": world, "fault": trip.fault.name, "good": trip.good, **seen, **trip.harm}


def report(seed: int, trips: list[tuple[str, Trip]], problems: list[str]) -> None:
    """Write build/chaos/report.json."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    document = {"seed": seed, "trips": [row(*trip) for trip in trips], "problems": problems}
    (FOLDER / "report.json").write_text(json.dumps(document, indent=2) + "\n")


def main() -> int:
    """Return 0 if every fault ended well and all kinds of moments were hit."""
    parser = argparse.ArgumentParser(prog="tests/chaos", description=__doc__)
    parser.add_argument("--only", default="", help="regular expression: faults whose world and name match")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 10**6))
    given = parser.parse_args()
    say(f"seed {given.seed}")
    draw = random.Random(given.seed)
    every = {world: faults(world, draw) for world in WORLDS}
    wanted = {
        world: [fault for fault in found if re.search(given.only, f"{world} {fault.name}")]
        for world, found in every.items()
    }
    trips: list[tuple[str, Trip]] = []
    for world, chosen in wanted.items():
        if chosen and WORLDS[world][1] == "strimzi" and (lacking := missing()):
            say(f"{world} is left out: {lacking}")
            continue
        for trip in run(world, chosen):
            trips.append((world, trip))
            # After each trip, so that an interrupted run of an hour is not lost.
            report(given.seed, trips, ["this run has not ended"])
    problems = [f"{world} {line(trip)}" for world, trip in trips if not trip.good]
    problems += [
        f"{world} {trip.fault.name}: never struck"
        for world, trip in trips
        if not trip.struck and "random" not in trip.fault.name
    ]
    if not given.only and not any(trip.orphans for _world, trip in trips):
        problems.append("no killed run left a child: that case was not tested")
    left = sum(map(len, wanted.values())) - len(trips)
    problems += [f"{left} faults were left out"] if left else []
    report(given.seed, trips, problems)
    good = sum(trip.good for _world, trip in trips)
    say(f"{len(trips)} faults, {good} ended well; report in build/chaos/report.json")
    for text in problems:
        say(f"PROBLEM {text}")
    return 1 if problems or not trips else 0


_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Print one line with the seconds since the start."""
    print(f"[{time.monotonic() - _BEGAN:6.1f} s] {text}", flush=True)


if __name__ == "__main__":
    end_all_on_signals()
    sys.exit(main())
