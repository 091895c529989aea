# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ACLs of accounts in a secured lab: those that the code lists, and those that the brokers apply."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out, place
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.account_rights import (
    Right,
    rights_of,
)
from brokers import admin
from lab.lab import Lab
from scenario import Scenario
from snapshot import read_inventory

__all__ = ["Authorizers", "Granted", "Key"]

#: Resource type, pattern type, name and operation of an ACL.
Key = tuple[str, str, str, str]
_DEBUG = "logger.acl.name=kafka.authorizer.logger\nlogger.acl.level=DEBUG\n"
_DENIED = r"Principal = User:{user} is Denied operation = (\S+) from .* on resource = (\S+) for"
_ALLOWED = (
    r"Principal = User:{user} is Allowed operation = (\S+) from .*"
    r"StandardAcl\[resourceType=(\w+), resourceName=(.*), patternType=(\w+), .* operation=(\w+), permission"
)


class Granted:
    """The accounts of a lab, and what the code says that each needs."""

    def __init__(self, secured: Scenario, lab: Lab, accounts: dict[str, Any]) -> None:
        self._secured, self.lab, self.accounts = secured, lab, accounts

    def login(self, user: str) -> dict[str, Any]:
        """Variables of a playbook with which the collection logs in as ``user``."""
        return self._secured.login(user)

    def pair(self, user: str) -> dict[str, Any]:
        """The derived pair with the login of ``user``, for modules that run in this process."""
        inventory = read_inventory(self._secured.inventory)
        variables = {key.removeprefix("kafka_dr_"): value for key, value in inventory.items() if "kafka_dr_" in key}
        for cluster in variables["clusters"].values():
            cluster |= {"admin_client": self.lab.client(user), "connect_client": self.lab.connect_client()}
        return laid_out(derive_pair({**variables, "accounts": self.accounts}))

    def wanted(self, account: str, alias: str) -> list[Right]:
        """The list of the code for this inventory."""
        return rights_of(account, place(self.pair("admin"), alias))

    def binding(self, account: str, right: Right) -> AclBinding:
        kind = "BROKER" if right.resource_type == "cluster" else right.resource_type.upper()
        pattern, operation = ResourcePatternType[right.pattern_type.upper()], AclOperation[right.operation.upper()]
        who = str(self.accounts[account])
        return AclBinding(ResourceType[kind], right.name, pattern, who, "*", operation, AclPermissionType.ALLOW)

    def existing(self, account: str, alias: str) -> set[AclBinding]:
        any_name: Any = None
        where = (ResourceType.ANY, any_name, ResourcePatternType.ANY, str(self.accounts[account]), any_name)
        client = admin(self.lab, alias)
        asked = AclBindingFilter(*where, AclOperation.ANY, AclPermissionType.ANY)
        return set(client.describe_acls(asked).result(15))

    def create(self, account: str, alias: str, rights: list[Right]) -> None:
        client = admin(self.lab, alias)
        for done in client.create_acls([self.binding(account, right) for right in rights]).values():
            done.result(15)

    @contextmanager
    def without(self, account: str, alias: str, right: Right) -> Iterator[None]:
        """Remove one right within the context."""
        acl = self.binding(account, right)
        same = (acl.restype, acl.name, acl.resource_pattern_type, acl.principal, acl.host, acl.operation)
        client = admin(self.lab, alias)
        for done in client.delete_acls([AclBindingFilter(*same, acl.permission_type)]).values():
            assert len(done.result(15)) == 1, right
        try:
            yield
        finally:
            self.create(account, alias, [right])


class Authorizers:
    """What the authorizers of a lab allowed and denied, from the logs of the brokers."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._ends: dict[Path, int] = {}

    def show_all(self, wait: Callable[[Callable[[], bool], float, str], None]) -> None:
        """Let the brokers also log what they allow, until they start again."""
        path = self._lab.paths.log4j2
        path.write_text(path.read_text() + _DEBUG)
        # The workers send requests all the time.
        wait(lambda: all(self.used("flow", alias) for alias in "PB"), 60, "the brokers log what they allow")

    def begin(self) -> None:
        """Forget earlier denials."""
        self._ends = {path: path.stat().st_size for path in self._logs("*")}

    def denied(self, user: str) -> list[str]:
        """Operations and resources since ``begin``."""
        pattern = re.compile(_DENIED.format(user=user))
        lines = [line for path in self._logs("*") for line in self._lines(path, self._ends.get(path, 0))]
        return sorted({f"{match[1]} on {match[2]}" for line in lines if (match := pattern.search(line))})

    def used(self, user: str, alias: str) -> dict[Key, set[str]]:
        """The ACLs of a user that allowed a request since the start, with the operations that they allowed."""
        pattern = re.compile(_ALLOWED.format(user=user))
        found: dict[Key, set[str]] = defaultdict(set)
        for path in self._logs(alias):
            for line in self._lines(path, 0):
                if match := pattern.search(line):
                    asked, kind, name, form, operation = (match[number] for number in range(1, 6))
                    found[kind.lower(), form.lower(), name, operation.lower()].add(asked.lower())
        return found

    def _logs(self, alias: str) -> list[Path]:
        return [path for path in self._lab.paths.root.glob("logs/*broker*.log") if alias in ("*", path.name[0])]

    @staticmethod
    def _lines(path: Path, start: int) -> Iterator[str]:
        with path.open(errors="replace") as log:
            log.seek(start)
            yield from log
