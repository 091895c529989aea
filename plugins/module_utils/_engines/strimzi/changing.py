# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change KafkaConnector resources without disturbing the operator or another owner.

The operator removes the annotation of finished work with a write that fails if the resource was changed meanwhile. The
annotation then stays, and the operator does the work again later: offsets that were altered at one stop are altered
again at the next one (seen with 0.49.1). So a resource is changed only while it has no such annotation.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._core.errors import DrError
from ..._core.waiting import Bounds, wait_until
from ..._kubernetes.api import KubernetesError, Resource
from ..._kubernetes.ownership import owner_of, suspension
from .resources import NAME, OFFSETS, RESTART, annotation, resource_name, warning_of
from .site import Site

__all__ = ["OPERATOR_SECONDS", "KafkaConnectors"]

_SLEEP = 0.05
#: An operator that missed a change acts at its next full reconciliation, after 120 s by default. Until then it is late.
OPERATOR_SECONDS = 150.0


class KafkaConnectors:
    """The KafkaConnector resources of one site, by the connector's name."""

    def __init__(self, site: Site) -> None:
        self.site = site
        #: Time within which the operator must answer.
        self.operator_bounds = Bounds(OPERATOR_SECONDS, _SLEEP)

    def find(self, name: str) -> Resource | None:
        """Return the resource of a connector. None: it does not exist. Raises ``resource_name_taken``."""
        made = resource_name(name) if ">" in name else name
        resource = self.site.api.find(self.site.kind("kafkaconnectors"), self.site.namespace, made)
        if resource is not None and made != name and annotation(resource, NAME) != name:
            raise DrError(
                "resource_name_taken",
                f'The KafkaConnector "{made}" in "{self.site.namespace}" belongs to "{annotation(resource, NAME)}"'
                f' (annotation {NAME}), wanted "{name}".',
                "Delete or rename that resource, or set the annotation if it is the same connector.",
                self.site.api.url,
            )
        return resource

    def require(self, name: str) -> Resource:
        """Return the resource of a connector. Raises ``no_kafka_connector``."""
        resource = self.find(name)
        if resource is None:
            raise DrError(
                "no_kafka_connector",
                f'The KafkaConnector of "{name}" does not exist in "{self.site.namespace}".',
                "Start the same playbook again.",
                self.site.api.url,
            )
        return resource

    def create(self, body: Resource) -> None:
        """Create a resource, after the checks of the site."""
        self.site.require_usable()
        self.site.api.create(self.site.kind("kafkaconnectors"), self.site.namespace, body)

    def delete(self, name: str) -> None:
        """Delete the resource. Refused while work on its offsets is pending."""
        resource = self._free(name)
        self.site.api.delete(self.site.kind("kafkaconnectors"), self.site.namespace, resource["metadata"]["name"])

    def change(self, name: str, spec: Mapping[str, Any], annotations: Mapping[str, str | None]) -> Resource:
        """Merge ``spec`` and ``annotations`` into the resource in one patch, and return the changed resource.

        Waits until the resource has no annotation of pending work. The patch has the resourceVersion that was checked,
        and is repeated after a conflict. Raises ``reconciliation_paused``, ``field_owned`` or ``work_pending``.
        """

        self.site.require_usable()

        def attempt() -> Resource:
            resource = self._free(name)
            metadata = resource["metadata"]
            self._require_changeable(resource, spec)
            given: dict[str, Any] = {"resourceVersion": metadata["resourceVersion"]}
            if annotations:
                given["annotations"] = dict(annotations)
            body = {"metadata": given, **({"spec": dict(spec)} if spec else {})}
            return self._patch(metadata["name"], body)

        return wait_until(attempt, lambda resource: True, self.operator_bounds).state

    def settle(self, name: str, work: str) -> None:
        """Wait until the operator has done ``work`` (an annotation's value) on the offsets of a STOPPED connector.

        Raises ``offsets_not_set`` if it reports a failure, or does not finish. The annotation is then removed, so that
        the operator does not do the work at a later time.
        """
        waited = wait_until(
            lambda: self.require(name),
            lambda resource: annotation(resource, OFFSETS) is None,
            self.operator_bounds,
        )
        warning = warning_of(waited.state)
        if waited.done and warning is None:
            return
        self._withdraw(name)
        raise DrError(
            "offsets_not_set",
            f'The operator could not {work} the offsets of "{name}" within {waited.seconds:.0f} s:'
            f" {warning or 'it did not answer'}.",
            "The work was withdrawn. Check that the operator runs and that the connector is STOPPED, then start the"
            " same playbook again.",
            self.site.api.url,
        )

    def _free(self, name: str) -> Resource:
        """Return the resource once it has no annotation of pending work. A killed run may have left one."""
        waited = wait_until(
            lambda: self.require(name), lambda resource: _pending(resource) is None, self.operator_bounds
        )
        pending = _pending(waited.state)
        if pending is not None:
            raise DrError(
                "work_pending",
                f'The KafkaConnector "{waited.state["metadata"]["name"]}" has had the annotation {pending} for'
                f" {waited.seconds:.0f} s: {warning_of(waited.state) or 'the operator has not removed it'}.",
                "A change now could make the operator alter offsets twice. Check the operator's log, remove the"
                " annotation, then start the same playbook again.",
                self.site.api.url,
            )
        return waited.state

    def refusals(self, resource: Resource) -> list[str]:
        """Why a change of the state would be refused before it is tried. Pending work is no reason: it is awaited."""
        try:
            self._require_changeable(resource, {"state": ""})
        except DrError as error:
            return [error.message]
        return []

    def _require_changeable(self, resource: Resource, spec: Mapping[str, Any]) -> None:
        where = f'The KafkaConnector "{resource["metadata"]["name"]}" in the namespace "{self.site.namespace}"'
        self.site.require_reconciled(resource, where)
        for path in _paths(spec):
            owner = owner_of(resource, "spec", *path)
            if owner is not None:
                raise DrError(
                    "field_owned",
                    f'{where}: the field spec.{".".join(path)} belongs to the field manager "{owner}", which would set'
                    " it back.",
                    suspension(owner, ("spec", *path)),
                    self.site.api.url,
                )

    def _withdraw(self, name: str) -> None:
        resource = self.require(name)
        self._patch(resource["metadata"]["name"], {"metadata": {"annotations": {OFFSETS: None}}})

    def _patch(self, made: str, body: Resource) -> Resource:
        try:
            return self.site.api.patch(self.site.kind("kafkaconnectors"), self.site.namespace, made, body)
        except KubernetesError as error:
            if error.status == 404:
                raise DrError(
                    "no_kafka_connector",
                    f'The KafkaConnector "{made}" was deleted during this run.',
                    "Find out which program deletes it, then start the same playbook again.",
                    self.site.api.url,
                ) from error
            raise


def _pending(resource: Resource) -> str | None:
    return next((f'{key} "{value}"' for key in (OFFSETS, RESTART) if (value := annotation(resource, key))), None)


def _paths(spec: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The changed fields: one for each setting in ``config``."""
    paths: list[tuple[str, ...]] = [(key,) for key in spec if key != "config"]
    return paths + [("config", key) for key in spec.get("config") or {}]
