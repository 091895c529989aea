# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""May a cutover start, is it needed, and which of its phases are left?

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..cutover_types import CUTOVER_TYPES, needs_source
from ..journal.reads import reads_of
from ..journal.runs import resume_command, unfinished_run
from ..listing import first_few
from ..names import naming_of
from ..resources.groups import REBALANCING_STATES, UNDESCRIBED, with_members
from ..resources.scopes import scope_problems
from ..verdict import PROVEN, UNKNOWN
from .idle_groups import idle_notes
from .undeclared_groups import undeclared_problems

__all__ = [
    "initial_offsets",
    "judge_cutover",
    "judge_disaster",
    "judge_last_probe",
    "on_higher",
    "phases_left",
    "run_outlook",
    "unfit",
    "unjoined_text",
    "written_after_barrier",
]

# Phases that begin with the point of no return. A run that was interrupted after it resumes with one of them.
_FORWARD_FROM = ("start", "move_producers")
_REPAIR = (
    "Run the playbook switchback.kafka_dr.enable: it repairs connectors and waits until both flows make progress. If"
    " the problem remains, check the tasks of those connectors and the logs of their workers."
)
_OPEN = (
    "{}. The drain would wait for it with the applications stopped. A producer that was killed leaves its transaction"
    " open until its transaction.timeout.ms has passed: wait, or end it (kafka-transactions.sh find-hanging). If a"
    " running application keeps its transactions open for so long and its stop ends them, start again with"
    """ -e '{{"kafka_dr_ready_accept": ["transactions"]}}'."""
)
_MIXED = (
    'The type "{}" cannot be used with the policy "{}": the flow and the producers would write into the'
    ' same partitions at the same time, and no cut would separate their records. Use the type "cutoff".'
)


def judge_cutover(
    status: Mapping[str, Any],
    journal: Mapping[str, Any],
    kind: str,
    to: str,
    policy: str = "default",
    groups: Sequence[str] = (),
    accept: Collection[str] = (),
) -> dict[str, Any]:
    """``{already, problems, text, verdict}`` for a cutover of type ``kind`` to the alias ``to``.

    ``verdict`` is about ``already``: the journal alone proves nothing if no group has members on ``to``.

    ``reads``: what the groups read where they live, for the journal (R40). ``notes``: what is not checked (R6).

    ``status``: the result of ``dr_status_info``. ``journal``: the journal's state. The active cluster counts as known
    only if the journal and the clusters do not contradict each other (R18). ``groups``: the groups that move.
    ``accept``: names of readiness checks whose NO the operator accepts.
    """
    active, run = journal["active"], journal["run"]
    if CUTOVER_TYPES[kind].writes_beside_flow and naming_of(policy).flows_write_originals:
        return _judgement(False, [_MIXED.format(kind, policy)], "")
    busy = {alias: _active_groups(status, alias) for alias in _aliases(status)}
    elsewhere = [alias for alias in busy if alias != to]
    reads = reads_of(status, active)
    if journal["interrupted"]:
        same = run["type"] == kind and run["to"] == to
        problems = [] if same else [_other_run(run, kind, to)]
        judged = _judgement(False, problems, f"The run {run['id']} was interrupted and resumes.")
        return {**judged, "reads": reads}
    if active == to:
        problems = [
            f"According to the journal, the applications live on {to}, but these groups have members on {alias}:"
            f" {with_members(busy[alias])}. Stop those consumers. If the applications were moved by hand, run enable"
            f" with -e kafka_dr_applications_on={alias} instead."
            for alias in elsewhere
            if busy[alias]
        ]
        if busy[to]:
            text = f"The applications already live on {to} (members: {', '.join(busy[to])}). Nothing to do."
            return _judgement(True, problems, text, PROVEN)
        text = (
            f"According to the journal, the applications live on {to}. No group has members there, so this is"
            " not proven."
        )
        return _judgement(True, problems, text)
    transactions = _open_transactions(status)
    problems = [f"{text}." for text in status["missing"]]
    problems += [
        f"The flow {flow['name']} is {flow['verdict']}: {flow['reason']}."
        for flow in status["flows"]
        if flow["verdict"] != PROVEN
        and flow["reason"] not in transactions
        and not any(text.startswith(f"{flow['name']}:") for text in status["missing"])
    ]
    problems = [*problems[:6], _REPAIR] if problems else []
    if status["open_transactions"] is None:
        problems.append(f"Whether transactions stay open on {active} was not observed.")
    if transactions and "transactions" not in accept:
        problems.append(_OPEN.format(first_few(transactions, 3, "; ")))
    problems += [
        f'The group "{row["group"]}" also reads {", ".join(row["topics"])} on {row["alias"]}, which the inventory'
        " does not list. Its committed offsets there would not be moved. Add the topics or remove the group."
        for row in status["undeclared_topics"]
    ]
    problems += scope_problems(status["out_of_scope"])
    if status["undeclared_groups"] is None:
        problems.append(f"Whether groups outside the inventory use topics of the pair on {active} was not observed.")
    problems += undeclared_problems(status["undeclared_groups"] or (), active)
    if status["unjoined"] is None:
        problems.append("Whether patterns of the inventory match more than has joined the pair was not observed.")
    left = [row for row in status["unjoined"] or () if row["alias"] == active]
    problems += [_unjoined_problem(left, active)] if left else []
    problems += [_busy(busy[to], to)] if busy[to] else []
    rows = [row for row in status["groups"] if row["alias"] == active]
    problems += [
        f'Whether the group "{group}" has members on {active} is unknown, because it is not a classic or consumer group'
        ". Run Kafka Streams with group.protocol=classic, or set mode: local for a group that stays."
        for group in dict.fromkeys(row["group"] for row in rows if row["state"] == UNDESCRIBED)
    ]
    # Its committed offsets do not show every topic that it reads (R40).
    problems += [
        f'The group "{group}" is still rebalancing on {active} (state {state}), so it is unknown which topics its'
        " members read. Wait until they are assigned partitions, then start the same playbook again. A member that does"
        " not respond leaves after its max.poll.interval.ms or session.timeout.ms."
        for group, state in {row["group"]: row["state"] for row in rows if row["state"] in REBALANCING_STATES}.items()
    ]
    unstarted = [row for row in rows if row["commit"] is None and row["read_to_end"] is None]
    # Without any committed offset, the whole group is named, and not each of its partitions.
    started = {row["group"] for row in rows if row["commit"] is not None}
    problems += [
        f'The group "{row["group"]}" has no committed offset on {row["alias"]} {row["topic"]}-{row["partition"]}.'
        " Commit one first."
        for row in unstarted
        if row["group"] in started
    ]
    never = [row["group"] for row in unstarted if row["group"] not in started]
    never += [group for group in groups if group not in {row["group"] for row in rows}]
    problems += [
        f'The group "{group}" has no committed offset on any of its topics on {active}: on {to} its'
        " auto.offset.reset would decide where it starts. Start it once or commit offsets; or remove it from the"
        " inventory. A share group has no committed offsets and is not moved. Neither are offsets that an application"
        " keeps outside Kafka (Flink, Spark)."
        for group in dict.fromkeys(never)
    ]
    notes = idle_notes(status["groups"], active)
    text = f"The applications live on {active} and move to {to} with the type {kind}."
    text += "".join(f" Not checked: {note}." for note in notes)
    return {**_judgement(False, problems, text), "reads": reads, "notes": notes}


def judge_disaster(
    observation: Mapping[str, Any], journal: Mapping[str, Any], to: str, anyway: bool = False
) -> dict[str, Any]:
    """As :func:`judge_cutover`, from one cluster's evidence, with ``replaces_passed_run``.

    ``replaces_passed_run``: this run ends a run that had passed the point of no return, or that was about to leave
    ``to``. ``observation``: the result of ``dr_disaster`` in check mode. ``anyway``: also if the other cluster responds
    (R15).
    """
    active, run, busy = journal["active"], journal["run"], observation["active_groups"]
    resumes = journal["interrupted"] and not needs_source(run["type"]) and run["to"] == to
    if active == to and not journal["interrupted"]:
        text = f"The applications already live on {to}"
        if busy:
            alone = "Whether applications write on the other cluster was not observed: failover_cutoff compares both."
            return _judgement(True, [], f"{text} (members: {', '.join(busy)}). Nothing to do. {alone}")
        return _judgement(
            True, [], f"{text}, according to the journal. No group has members there, so this is not proven."
        )
    problems = []
    other = active if active != to else "The other cluster"
    if any(probe["locked_out"] for probe in observation["probes"]) and not anyway:
        problems.append(
            f"{other} responds but rejects this client, so it is unknown whether it is lost:"
            f" {observation['probes'][-1]['reason']} Correct certificate, login or rights and start again. If the"
            " cluster is lost, start again with -e kafka_dr_although_healthy=true."
        )
    elif observation["probes"] and all(probe["answers"] for probe in observation["probes"]) and not anyway:
        problems.append(
            f"{other} responded {len(observation['probes'])} times ({observation['probes'][0]['reason']}). A planned"
            " failover is possible and loses no record. Start the playbook switchback.kafka_dr.failover_cutoff with"
            f" -e kafka_dr_to={to} -e kafka_dr_confirm={to}, or this playbook again with"
            " -e kafka_dr_although_healthy=true."
        )
    # The applications lived here already when another run was interrupted: no offset may be set back.
    here = active == to
    passed = here and run["to"] == to and run["pnr"] is not None
    if busy and not resumes and not here and not journal["interrupted"]:
        problems.append(_busy(observation["active_members"], to))
    if not journal["interrupted"]:
        problems += scope_problems(observation["out_of_scope"])
    text = f"The applications lived on {active} and move to {to} with the type disaster."
    if resumes:
        text = f"The run {run['id']} was interrupted and resumes."
    elif passed:
        text = f"The {run['type']} run {run['id']} had passed the point of no return to {to}: this run completes it."
    elif here:
        text = f"The {run['type']} run {run['id']} was about to leave {to}: the applications start there again."
    elif journal["interrupted"]:
        text = f"{text} The {run['type']} run {run['id']} had not ended: this run replaces it."
    return {**_judgement(False, problems, text), "replaces_passed_run": here and not resumes}


def judge_last_probe(
    probes: Sequence[Mapping[str, Any]],
    ways: tuple[str, str],
    writing: Sequence[Mapping[str, Any]],
    fence: Mapping[str, Any] | None,
    anyway: bool = False,
) -> dict[str, Any]:
    """``{problems, text}``: may a disaster run pass the point of no return? (R47)

    ``probes``: those of the start, then the last one. ``ways``: the aliases of the clusters being left and entered.
    ``writing``: applications that write and could not be stopped (name, principal). ``fence``: of the cluster being
    left; None: it was not set. ``anyway``: also if that cluster responds, and then nothing may write there.

    A cluster that responds with more than at the start has come back: its producers write records that no survey has
    seen, and a planned move loses none of them.
    """
    left, to = ways
    *earlier, last = probes
    appeared = (last["reachable"] or last["locked_out"]) and not any(
        probe["reachable"] or probe["locked_out"] for probe in earlier
    )
    if not last["answers"] and not appeared:
        return {"problems": [], "text": f"{left} did not respond right before the point of no return."}
    seen = f"{left} responded right before the point of no return: {last['reason'].rstrip('.')}."
    if not anyway:
        problem = (
            f"{seen} No producer was started on {to}. A planned failover loses no record: start the playbook"
            f" switchback.kafka_dr.failover_cutoff with -e kafka_dr_to={to} -e kafka_dr_confirm={to}, or this playbook"
            " again with -e kafka_dr_although_healthy=true."
        )
        return {"problems": [problem], "text": seen}
    fenced = bool(fence and fence["fenced"])
    free = [str(application["name"]) for application in writing if not (fenced and application.get("principal"))]
    if last["answers"] and free:
        problem = (
            f"{seen} These applications could not be stopped and may still write there: {', '.join(free)}. Wanted:"
            " each is stopped, or its principal is denied WRITE. Stop them, or set their principals and kafka_dr_fence,"
            " then start the same playbook again."
        )
        return {"problems": [problem], "text": seen}
    return {"problems": [], "text": seen}


def unjoined_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Name the first of ``rows``, which are those of ``status["unjoined"]``."""
    return first_few([f'{row["kind"]} "{row["name"]}"' for row in rows])


def _unjoined_problem(rows: Sequence[Mapping[str, Any]], alias: str) -> str:
    return (
        f"Patterns of the inventory match, but these have not joined the pair and would stay on {alias}:"
        f" {unjoined_text(rows)}. Run the playbook switchback.kafka_dr.enable, or exclude them."
    )


def _busy(groups: Mapping[str, str], alias: str) -> str:
    return (
        f"These groups already have members on {alias}: {with_members(groups)}. Stop those consumers first. A consumer"
        " that died leaves its group after its session time-out."
    )


def unfit(status: Mapping[str, Any]) -> list[str]:
    """Partitions on which a flow must not continue: its offset is not known to be within the source's log.

    MirrorMaker 2 would continue without an error, from a wrong offset or from the log start.
    """
    return [
        f"{flow['name']} {row['topic']}-{row['partition']}: {row['fits_reason']}"
        for flow in status["flows"]
        for row in flow["partitions"]
        if row["fits"] != PROVEN
    ]


def initial_offsets(status: Mapping[str, Any], alias: str) -> list[dict[str, Any]]:
    """Offset 0 for groups without a committed offset, on partitions of ``alias`` that were never written.

    Only there no record can be skipped or read again. Any other initial offset is a decision of the group's owner. The
    shape is that of ``kafka_group``. Groups with members are left out: they commit themselves.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in status["groups"]:
        untouched = row["commit"] is None and row["read_to_end"] is True
        if row["alias"] == alias and untouched and row["state"] in ("EMPTY", "DEAD"):
            committed_offset = {"topic": row["topic"], "partition": row["partition"], "offset": 0}
            groups.setdefault(row["group"], []).append(committed_offset)
    return [{"group": group, "committed_offsets": committed_offsets} for group, committed_offsets in groups.items()]


def _judgement(already: bool, problems: list[str], text: str, verdict: str = UNKNOWN) -> dict[str, Any]:
    return {"already": already, "problems": problems[:8], "text": text, "verdict": verdict}


def _open_transactions(status: Mapping[str, Any]) -> list[str]:
    """The transactions that stay open, in words."""
    return [row["text"] for row in status["open_transactions"] or ()]


def _aliases(status: Mapping[str, Any]) -> set[str]:
    return {flow[end] for flow in status["flows"] for end in ("source", "target")}


def _active_groups(status: Mapping[str, Any], alias: str) -> dict[str, str]:
    """Groups with members on ``alias``, and their members in words."""
    rows = [row for row in status["groups"] if row["alias"] == alias and row["state"] not in ("EMPTY", "DEAD")]
    return {row["group"]: row["members"] for row in sorted(rows, key=lambda row: str(row["group"]))}


def _other_run(run: Mapping[str, Any], kind: str, to: str) -> str:
    return f"Wanted {kind} to {to}. {unfinished_run(run)}"


def phases_left(phases: Sequence[str], run: Mapping[str, Any]) -> list[str]:
    """The phases that a run still has to do: all of them, or those from the point of no return on.

    Every phase checks before it acts, so phases before the point of no return may be repeated; later ones may not. If
    the applications lived on that cluster already (``replaces_passed_run``), no offset changes, and without a cut there
    are no first writes to check.
    """
    if run["pnr"] is not None:
        left = list(phases[next(index for index, phase in enumerate(phases) if phase in _FORWARD_FROM) :])
    elif run["replaces_passed_run"]:
        left = list(phases[phases.index("start_consumers") :])
    else:
        return list(phases)
    return [
        phase for phase in left if phase != "arrival" or not run["replaces_passed_run"] or "barrier" in run["phases"]
    ]


def run_outlook(run: Mapping[str, Any] | None, lower: str, run_on: str) -> dict[str, Any]:
    """What the tasks need to know of the journal's last run.

    ``lower``: as ``asked`` of :func:`on_higher`. ``run_on``: inventory host of the playbook.
    """
    if not run:
        return {"phases_left": [], "on_higher": "", "resume_command": "", "unfinished_run": ""}
    return {
        "phases_left": phases_left(CUTOVER_TYPES[run["type"]].phases, run),
        "on_higher": on_higher(run, lower),
        "resume_command": resume_command(run, run_on),
        "unfinished_run": unfinished_run(run, run_on) if run["ended"] is None else "",
    }


def on_higher(run: Mapping[str, Any], asked: str = "auto") -> str:
    """What to do about a higher committed offset on the cluster being entered: ``fail``, ``lower`` or ``keep`` (R6).

    ``asked``: one of these, or ``auto``. With ``auto``, it is kept only if this run's own consumers may have committed
    it: the run began to start them before it was interrupted, and had found no higher offset before that. A cutoff
    starts no consumer before the point of no return, and sets no offset after it.
    """
    if asked != "auto":
        return asked
    phases = run["phases"]
    if "start_consumers" in phases and phases.get("barrier", {}).get("preexisting_higher_offsets") == []:
        return "keep"
    return CUTOVER_TYPES[run["type"]].higher


def written_after_barrier(status: Mapping[str, Any], ends: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Partitions of the cluster that was left whose log end grew after the barrier: a producer still writes there."""
    texts = []
    for flow in status["flows"]:
        for row in flow["partitions"]:
            before = ends.get(row["topic"], {}).get(str(row["partition"]))
            if before is not None and row["end"] is not None and row["end"] > before:
                texts.append(f"{flow['source']} {row['topic']}-{row['partition']}: {row['end'] - before} offsets")
    return texts
