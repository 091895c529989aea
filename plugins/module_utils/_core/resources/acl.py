# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rights (ACLs): the meaning of a list of ACLs, and the changes from the current ACLs to the wanted ones.

Guarantees of the plan: it never changes ACLs of principals that are not named. ``present`` deletes nothing, ``absent``
deletes exactly the listed ACLs. Creations come before deletions, so no principal is without a right for a moment when
only the form of its ACL changes.

Sources: org.apache.kafka.common.acl.AclOperation, kafka.security.authorizer.AclEntry.supportedOperations,
StandardAuthorizer (4.3).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..changes import Change, Outcome
from ..errors import DrError
from ..listing import first_few

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
# The only name that Kafka accepts for the resource type cluster.
CLUSTER_NAME = "kafka-cluster"

# A broker also accepts a right that it never checks, such as WRITE on a group: a mistake that shows only much later.
_SUPPORTED = {
    "topic": {"alter", "alter_configs", "create", "delete", "describe", "describe_configs", "read", "write"},
    "group": {"alter_configs", "delete", "describe", "describe_configs", "read"},
    "cluster": {
        *("alter", "alter_configs", "cluster_action", "create"),
        *("describe", "describe_configs", "idempotent_write"),
    },
    "transactional_id": {"describe", "write"},
}


# Every principal, also an anonymous one.
EVERYBODY = "User:*"


@dataclass(frozen=True, order=True)
class Acl:
    """One ACL that allows or denies. Ordered as in a listing."""

    principal: str
    resource_type: str
    name: str
    operation: str
    pattern_type: str = "literal"
    permission: str = "allow"
    host: str = "*"

    def command(self, bootstrap_servers: str) -> str:
        """The command of Kafka's own tool that creates this ACL."""
        option = {"cluster": "--cluster", "transactional_id": "--transactional-id"}
        where = option.get(self.resource_type, f"--{self.resource_type}")
        where += "" if self.resource_type == "cluster" else f" {shlex.quote(self.name)}"
        where += "" if self.pattern_type == "literal" else f" --resource-pattern-type {self.pattern_type}"
        operation = "".join(word.capitalize() for word in self.operation.split("_"))
        return (
            f"kafka-acls.sh --bootstrap-server {bootstrap_servers} --add"
            f" --{self.permission}-principal {shlex.quote(self.principal)} --operation {operation} {where}"
        )

    def sentence(self) -> str:
        """The ACL in words that name every part, so that two different ACLs never look equal."""
        whole = (self.resource_type, self.pattern_type, self.name) == ("cluster", "literal", CLUSTER_NAME)
        which = "" if whole else f" {self.pattern_type} {self.name}"
        return f"{self.permission} {self.principal} from {self.host}: {self.operation} {self.resource_type}{which}"


# ---- validation: everything that can be known without a connection --------------------------------------------


def wanted_acls(items: Iterable[Mapping[str, Any]], state: str = "present") -> list[Acl]:
    """The option ``acls``, checked as a whole. One error names every problem. Duplicates are dropped.

    An ACL that must be ``absent`` may be meaningless: it may exist anyway.
    """
    problems: list[str] = []
    wanted: dict[Acl, None] = {}
    for number, item in enumerate(items, start=1):
        acl = _acl(item)
        found = _problems(acl, state)
        problems += [f"acls[{number}]: {problem}" for problem in found]
        wanted[acl] = None
    if problems:
        raise DrError("bad_acls", " ".join(problems), "No request was sent to the cluster. Correct the list of ACLs.")
    return list(wanted)


def named(acls: Iterable[Acl], principals: Iterable[str], state: str) -> list[str]:
    """The principals of the list and of ``principals``. Only their ACLs are compared."""
    given = list(principals)
    wrong = [text for text in given if _principal_problem(text)]
    if wrong:
        text = " ".join(f"principals: {_principal_problem(one)}" for one in wrong)
        raise DrError("bad_acls", text, "No request was sent to the cluster. Correct the list of principals.")
    found = sorted({acl.principal for acl in acls} | set(given))
    if state == "exact" and not found:
        raise DrError(
            "bad_acls",
            "With state: exact, at least one principal is required.",
            "No request was sent to the cluster. List in principals those that must have exactly these rights.",
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
        found.append(f'Kafka never checks "{acl.operation}" on a {acl.resource_type}; it supports {known}.')
    if acl.pattern_type == "prefixed" and acl.name == "*":
        found.append('A prefix "*" means names that begin with an asterisk. For every name use pattern_type: literal.')
    if acl.host != "*" and not _is_address(acl.host):
        found.append(
            f'host "{acl.host}" never matches: Kafka compares the IP address of a client. Wanted "*" or an IP address.'
        )
    return found


def _principal_problem(text: str) -> str:
    kind, colon, name = text.partition(":")
    return "" if kind and colon and name else f'principal "{text}" has no type: did you mean "User:{text}"?'


def _name_problem(acl: Acl) -> str:
    if acl.resource_type != "cluster":
        return "" if acl.name else f"name is missing for a {acl.resource_type}."
    if acl.name != CLUSTER_NAME or acl.pattern_type != "literal":
        return f'The resource cluster has only the literal name "{CLUSTER_NAME}": omit name and pattern_type.'
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
    """Changes from ``found`` to ``wanted``.

    ``principals``: with ``exact``, their other ACLs are deleted, except those in ``keep``.
    """
    listed, there = set(wanted), set(found)
    if state == "absent":
        return [_delete(acl) for acl in sorted(listed & there)]
    changes = [_create(acl) for acl in sorted(listed - there)]
    if state == "exact":
        changes += [_delete(acl) for acl in sorted(there - listed - set(keep)) if acl.principal in principals]
    return changes


def after(found: Iterable[Acl], changes: Iterable[Change]) -> list[Acl]:
    """The ACLs after the changes."""
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
    text = f"{len(failed)} of {len(outcomes)} ACLs were refused. {first_few(failed, separator='; ')}"
    return DrError("acl_refused", text, "All outcomes are listed under changes.", endpoint)


def granted(wanted: Acl, found: Iterable[Acl]) -> bool:
    """Whether ``found`` allows ``wanted`` from every host, as StandardAuthorizer decides: DENY overrides ALLOW.

    An ALLOW for some hosts does not count; a DENY for some hosts counts for all. Super users have no ACLs.
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
    """The ACLs that ``principal`` needs to work as ``client`` on one cluster, in the form of ``kafka_acl``.

    ``client``: role, and group unless it only produces. ``endpoint``: see :func:`.layout.endpoint`; replicas are read
    and never written. ``outputs``: topics that a processor writes (None: all of its own). ``transactional_ids``: those
    that it uses. READ and WRITE imply DESCRIBE, so DESCRIBE is not listed separately.

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
    """The ACLs that a declared client needs on one cluster; none if it declares no principal.

    A processor without ``outputs`` gets only the rights to read.
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
    """DENY ACLs: none of the principals may write any of the topics from any host."""
    return [
        Acl(principal=principal, resource_type="topic", name=topic, operation="write", permission="deny")
        for topic in topics
        for principal in principals
    ]


def write_bans(found: Iterable[Acl], topics: Sequence[str]) -> list[Acl]:
    """The ACLs in ``found`` that deny writes to one of ``topics``, in any form."""
    return sorted(
        acl
        for acl in found
        if acl.permission == "deny"
        and any(_covers(acl, Acl(acl.principal, "topic", topic, "write")) for topic in topics)
    )
