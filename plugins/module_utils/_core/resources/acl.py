# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rights (ACLs): what a list of them means, and the steps from what is to what is wanted.

Promises of the plan: rights of principals that were not named are never touched; ``present`` takes nothing away,
``absent`` takes away exactly what is listed; creations come before deletions, so that nobody is for a moment without
a right that was only written in another way.

Sources: org.apache.kafka.common.acl.AclOperation, kafka.security.authorizer.AclEntry.supportedOperations,
StandardAuthorizer (4.3).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..changes import Change, Outcome
from ..errors import DrError

__all__ = [
    "CLUSTER_NAME",
    "EVERYBODY",
    "OPERATIONS",
    "PATTERN_TYPES",
    "PERMISSIONS",
    "RESOURCE_TYPES",
    "Acl",
    "after",
    "application_acls",
    "bans",
    "client_acls",
    "failure_of",
    "granted",
    "named",
    "plan",
    "wanted_acls",
    "write_bans",
]

OPERATIONS = (
    "all",
    "alter",
    "alter_configs",
    "cluster_action",
    "create",
    "delete",
    "describe",
    "describe_configs",
    "idempotent_write",
    "read",
    "write",
)
PERMISSIONS = ("allow", "deny")
RESOURCE_TYPES = ("topic", "group", "cluster", "transactional_id")
PATTERN_TYPES = ("literal", "prefixed")
# The only name that Kafka takes for the resource type cluster.
CLUSTER_NAME = "kafka-cluster"

# A broker also keeps a right that nothing ever asks for, such as writing a group: a slip that shows up much later.
_SUPPORTED = {
    "topic": {"alter", "alter_configs", "create", "delete", "describe", "describe_configs", "read", "write"},
    "group": {"alter_configs", "delete", "describe", "describe_configs", "read"},
    "cluster": {
        *("alter", "alter_configs", "cluster_action", "create"),
        *("describe", "describe_configs", "idempotent_write"),
    },
    "transactional_id": {"describe", "write"},
}
_SHOWN = 5


# A right of anybody who has a name, or none.
EVERYBODY = "User:*"


@dataclass(frozen=True, order=True)
class Acl:
    """One right, or one ban. The order is that of a listing."""

    principal: str
    resource_type: str
    name: str
    operation: str
    pattern_type: str = "literal"
    permission: str = "allow"
    host: str = "*"

    def sentence(self) -> str:
        """In words that name every part, so that no two differ in silence."""
        whole = (self.resource_type, self.pattern_type, self.name) == ("cluster", "literal", CLUSTER_NAME)
        which = "" if whole else f" {self.pattern_type} {self.name}"
        return f"{self.permission} {self.principal} from {self.host}: {self.operation} {self.resource_type}{which}"


# ---- validation: everything that can be known without a connection --------------------------------------------


def wanted_acls(items: Iterable[Mapping[str, Any]], state: str = "present") -> list[Acl]:
    """The option ``acls``, checked as a whole; one error names every problem. Repetitions are dropped.

    What is to be ``absent`` may make no sense: somebody has made it all the same.
    """
    problems: list[str] = []
    wanted: dict[Acl, None] = {}
    for number, item in enumerate(items, start=1):
        acl = _acl(item)
        found = _problems(acl, state)
        problems += [f"acls[{number}]: {problem}" for problem in found]
        wanted[acl] = None
    if problems:
        raise DrError("bad_acls", " ".join(problems), "Nothing was asked of the cluster. Correct the list of ACLs.")
    return list(wanted)


def named(acls: Iterable[Acl], principals: Iterable[str], state: str) -> list[str]:
    """The principals in question: those of the list and those given. Nobody's rights but theirs are looked at."""
    given = list(principals)
    wrong = [text for text in given if _principal_problem(text)]
    if wrong:
        text = " ".join(f"principals: {_principal_problem(one)}" for one in wrong)
        raise DrError("bad_acls", text, "Nothing was asked of the cluster. Correct the list of principals.")
    found = sorted({acl.principal for acl in acls} | set(given))
    if state == "exact" and not found:
        raise DrError(
            "bad_acls",
            "state: exact names no principal.",
            "Nothing was asked of the cluster. Name those who are to have exactly these rights under principals.",
        )
    return found


def _acl(item: Mapping[str, Any]) -> Acl:
    kind = item["resource_type"]
    name = item.get("name")
    return Acl(
        principal=item["principal"],
        resource_type=kind,
        name=(name or CLUSTER_NAME) if kind == "cluster" else (name or ""),
        operation=item["operation"],
        pattern_type=item.get("pattern_type") or "literal",
        permission=item.get("permission") or "allow",
        host=item.get("host") or "*",
    )


def _problems(acl: Acl, state: str) -> list[str]:
    found = [problem for problem in (_principal_problem(acl.principal), _name_problem(acl)) if problem]
    if state == "absent":
        return found
    if acl.operation != "all" and acl.operation not in _SUPPORTED[acl.resource_type]:
        known = ", ".join(sorted({"all", *_SUPPORTED[acl.resource_type]}))
        found.append(f'Kafka never asks for "{acl.operation}" on a {acl.resource_type}; it knows {known}.')
    if acl.pattern_type == "prefixed" and acl.name == "*":
        found.append('A prefix "*" means names that begin with an asterisk. Everything is pattern_type: literal.')
    if acl.host != "*" and not _is_address(acl.host):
        found.append(
            f'host "{acl.host}" never matches: Kafka compares the address of a client. Wanted "*" or an address.'
        )
    return found


def _principal_problem(text: str) -> str:
    kind, colon, name = text.partition(":")
    return "" if kind and colon and name else f'principal "{text}" has no type: did you mean "User:{text}"?'


def _name_problem(acl: Acl) -> str:
    if acl.resource_type != "cluster":
        return "" if acl.name else f"name is missing for a {acl.resource_type}."
    if acl.name != CLUSTER_NAME or acl.pattern_type != "literal":
        return f'The resource cluster has the literal name "{CLUSTER_NAME}" only: leave name and pattern_type out.'
    return ""


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


# ---- the plan ---------------------------------------------------------------------------------------------------


def plan(
    wanted: Iterable[Acl],
    found: Collection[Acl],
    state: str,
    principals: Collection[str] = (),
    keep: Iterable[Acl] = (),
) -> list[Change]:
    """Steps from ``found`` to ``wanted``. ``principals``: those whose other rights go away with ``exact``, but for
    those to ``keep``.
    """
    listed, there = set(wanted), set(found)
    if state == "absent":
        return [_delete(acl) for acl in sorted(listed & there)]
    changes = [_create(acl) for acl in sorted(listed - there)]
    if state == "exact":
        changes += [_delete(acl) for acl in sorted(there - listed - set(keep)) if acl.principal in principals]
    return changes


def after(found: Iterable[Acl], changes: Iterable[Change]) -> list[Acl]:
    """What is there once the changes are done."""
    rights = set(found)
    for change in changes:
        if change.after is not None:
            rights.add(Acl(**change.after))
        elif change.before is not None:
            rights.discard(Acl(**change.before))
    return sorted(rights)


def _create(acl: Acl) -> Change:
    return Change("acl", acl.sentence(), "create", None, asdict(acl))


def _delete(acl: Acl) -> Change:
    return Change("acl", acl.sentence(), "delete", asdict(acl), None)


def failure_of(outcomes: Sequence[Outcome], endpoint: str = "") -> DrError | None:
    """One error for all changes that failed, or None."""
    failed = [f"{outcome.change.name}: {outcome.error}" for outcome in outcomes if outcome.status == "failed"]
    if not failed:
        return None
    more = f" ... and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
    text = f"{len(failed)} of {len(outcomes)} ACLs were refused. {' '.join(failed[:_SHOWN])}{more}"
    return DrError("acl_refused", text, "All outcomes are listed under changes.", endpoint)


def granted(wanted: Acl, found: Iterable[Acl]) -> bool:
    """Whether ``found`` lets ``wanted`` happen from anywhere, as StandardAuthorizer decides: a ban beats any right.

    A right for some hosts only counts for none; a ban for some hosts counts for all. Super users have no ACLs.
    """
    about = [acl for acl in found if _covers(acl, wanted)]
    if any(acl.permission == "deny" for acl in about):
        return False
    return any(acl.permission == "allow" and acl.host == "*" for acl in about)


def _covers(acl: Acl, wanted: Acl) -> bool:
    if acl.resource_type != wanted.resource_type or acl.principal not in (wanted.principal, EVERYBODY):
        return False
    if acl.operation not in (wanted.operation, "all"):
        return False
    if acl.pattern_type == "prefixed":
        return wanted.name.startswith(acl.name)
    return acl.name in (wanted.name, "*")


# ---- what an application needs ----------------------------------------------------------------------------------


def application_acls(
    client: Mapping[str, Any],
    endpoint: Mapping[str, Any],
    principal: str,
    transactional_ids: Sequence[str] = (),
    outputs: Sequence[str] | None = None,
    before_2_8: bool = False,
) -> list[dict[str, Any]]:
    """The rights with which ``principal`` can work as ``client`` on one side, in the shape of ``kafka_acl``.

    ``client``: role, and group unless it only produces. ``endpoint``: see :func:`.layout.endpoint`; replicas are read
    and never written. ``outputs``: topics that a processor writes (None: all of its own). ``transactional_ids``: those
    that it uses. Kafka takes READ and WRITE for DESCRIBE too, so that no right to look is named on its own.

    =================================  =======================================================================
    Metadata, ListOffsets              DESCRIBE on the topic
    Produce                            WRITE on the topic; with a transaction also on its transactional id
    InitProducerId                     WRITE on the transactional id. Without one WRITE on any topic, before
                                       Kafka 2.8 IDEMPOTENT_WRITE on the cluster
    Fetch                              READ on the topic
    FindCoordinator                    DESCRIBE on the group or the transactional id
    JoinGroup, Heartbeat, SyncGroup    READ on the group
    OffsetCommit, OffsetFetch          READ on the group and the topic; DESCRIBE of both to fetch
    AddOffsetsToTxn, TxnOffsetCommit   WRITE on the transactional id, READ on the group (and the topic)
    =================================  =======================================================================
    """
    reads, writes = client["role"] != "producer", client["role"] != "consumer"
    wanted: list[tuple[str, str, str]] = []
    if writes:
        names = endpoint["topics"] if outputs is None else outputs
        wanted += [("topic", name, "write") for name in names]
        wanted += [("transactional_id", name, "write") for name in transactional_ids]
        wanted += [("cluster", CLUSTER_NAME, "idempotent_write")] if before_2_8 else []
    if reads:
        wanted += [("topic", name, "read") for name in endpoint["subscribe"]]
        wanted += [("group", client["group"], "read")]
    return [asdict(Acl(principal, kind, name, operation)) for kind, name, operation in dict.fromkeys(wanted)]


def client_acls(client: Mapping[str, Any], endpoint: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a declared client needs on one side; nothing where it names no principal.

    Of a processor that does not say what it writes (``outputs``), what it reads.
    """
    if not client.get("principal"):
        return []
    outputs, ids = client.get("outputs"), client.get("transactional_ids") or ()
    reads_only = client["role"] == "processor" and outputs is None
    known = {**client, "role": "consumer"} if reads_only else client
    found = application_acls(known, endpoint, client["principal"], ids, outputs)
    if reads_only:
        found += [asdict(Acl(client["principal"], "transactional_id", name, "write")) for name in ids]
    return found


def bans(topics: Sequence[str], principals: Sequence[str]) -> list[Acl]:
    """Nobody of these writes any of these, from wherever."""
    return [
        Acl(principal=principal, resource_type="topic", name=topic, operation="write", permission="deny")
        for topic in topics
        for principal in principals
    ]


def write_bans(found: Iterable[Acl], topics: Sequence[str]) -> list[Acl]:
    """Those of ``found`` that keep somebody from writing one of ``topics``, in whatever form."""
    return sorted(
        acl
        for acl in found
        if acl.permission == "deny"
        and any(_covers(acl, Acl(acl.principal, "topic", topic, "write")) for topic in topics)
    )
