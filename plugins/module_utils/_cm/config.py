# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set properties of a service: resolve names, plan, write once for each level, read back and compare.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._core.changes import Outcome
from .._core.errors import DrError
from .._module import Result
from .catalogue import Catalogue
from .misconfigurations import misconfigurations
from .properties import Write, plan_lines, plan_value, shown, shown_lines, value_text
from .replication_config import OLD_SEPARATOR, REPLICATION_CONFIGS, parse, repeated, separator_of, wanted_lines
from .service import CmService
from .shapes import Property

__all__ = ["REASON", "Declared", "read_properties", "reconcile_config"]

REASON = "Changed by the Ansible collection switchback.kafka_dr"


@dataclass(frozen=True)
class Declared:
    """The wanted properties of a service. A property is named by its API name or by its name in the UI."""

    #: Whole values by property. None resets a property to its default.
    properties: Mapping[str, Any] = field(default_factory=dict)
    #: Lines to set in a property that holds lines: value by key, by property. None removes a line.
    lines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Role group to search for the properties. None: the service and all its role groups.
    role_group: str | None = None
    #: Cluster aliases, to check the names in lines.
    aliases: Sequence[str] = ()
    #: ``always`` or ``on_create``: whether to overwrite a secret that is set. Its value cannot be compared.
    update_secrets: str = "on_create"
    #: Reason for the change, which Cloudera Manager stores in its history.
    reason: str = REASON


def reconcile_config(service: CmService, wanted: Declared, check: bool, conceal: Callable[[str], None]) -> Result:
    """Set the declared properties. Raises all errors that can be known in advance before anything is written.

    ``conceal``: called with each value that Cloudera Manager marks as sensitive, so that the module can hide it.
    """
    catalogue = Catalogue(service, wanted.role_group)
    result = Result(requests=service.client.requests)
    writes, asked = _plan(catalogue, wanted, result, conceal)
    if check:
        result.outcomes = [Outcome(write.change, "planned") for write in writes]
    else:
        for group in dict.fromkeys(write.property.group for write in writes):
            if result.failure is None:
                own = [write for write in writes if write.property.group == group]
                result.failure = _write(catalogue, group, own, wanted.reason, result.outcomes)
    now = [_again(catalogue, found) for found in asked.values()]
    if not check and result.failure is None:
        result.failure = _invalid(now, writes, result)
    rows = [property_row(name, found) for name, found in zip(asked, now, strict=True)]
    result.extra = {"cluster": service.cluster, "service": service.name, "properties": rows}
    return result


def read_properties(service: CmService, names: Sequence[str], role_group: str | None) -> Result:
    """Read the properties in ``names``, or every property that has a value if ``names`` is empty.

    A name that is unknown becomes a row with ``exists`` false.
    """
    catalogue = Catalogue(service, role_group)
    if names:
        rows = [property_row(name, found, catalogue) for name in names for found in [catalogue.find(name)]]
    else:
        rows = [property_row(one.name, one) for one in catalogue.everything() if one.value is not None]
    extra = {
        "cluster": service.cluster,
        "service": service.name,
        "runtime_version": catalogue.runtime() or None,
        "url": service.client.url,
        "properties": rows,
    }
    return Result(extra=extra, requests=service.client.requests)


def property_row(asked: str, current: Property | None, catalogue: Catalogue | None = None) -> dict[str, Any]:
    """The row that modules return for a property, without secrets. ``asked``: the name that the user gave."""
    if current is None:
        return {"asked": asked, "exists": False, "hint": catalogue.missing(asked).sentence() if catalogue else ""}
    return {
        "asked": asked,
        "exists": True,
        "name": current.name,
        "display_name": current.display,
        "level": current.level,
        "value": shown(current, current.value),
        "default": current.default,
        "effective": shown(current, current.effective),
        "sensitive": current.hidden,
        "validation": current.validation or None,
        "validation_message": current.validation_message,
        "lines": None if current.hidden or current.name != REPLICATION_CONFIGS else shown_lines(current),
    }


# ---- planning


def _plan(
    catalogue: Catalogue, wanted: Declared, result: Result, conceal: Callable[[str], None]
) -> tuple[list[Write], dict[str, Property]]:
    """Return the writes, and the properties by the name that the user gave."""
    values = {name: value_text(name, value) for name, value in wanted.properties.items()}
    lines = {name: wanted_lines(given) for name, given in wanted.lines.items()}
    asked = {name: catalogue.require(name) for name in [*values, *lines]}
    _refuse_twice(asked, [*values, *lines])
    writes = []
    for name, value in values.items():
        if asked[name].hidden and value:
            conceal(value)
        writes.append(plan_value(asked[name], value, wanted.update_secrets))
    for name, (given, reported) in lines.items():
        writes.append(plan_lines(asked[name], given))
        result.warnings += reported + _line_warnings(asked[name], given, wanted.aliases)
    return [write for write in writes if write is not None], asked


def _refuse_twice(asked: Mapping[str, Property], names: Iterable[str]) -> None:
    by_place: dict[tuple[str | None, str], str] = {}
    for name in names:
        current = asked[name]
        first = by_place.setdefault((current.group, current.name), name)
        if first != name or list(names).count(name) > 1:
            text = f'"{first}" and "{name}" name the same property, "{current.name}".'
            raise DrError("cm_property_twice", text, "Name it only once, in properties or in lines.")


def _line_warnings(current: Property, given: Mapping[str, str | None], aliases: Sequence[str]) -> list[str]:
    """Return warnings: an old separator, a repeated key, or a line that is probably a mistake once ``given`` is set."""
    text = current.effective or ""
    reported = []
    if separator_of(text) == OLD_SEPARATOR:
        reported.append(
            f'The lines of "{current.name}" are joined by ";", as in Runtime before 7.1.1, and this is kept. '
            'A newer Runtime expects "|" and would read them as a single line.'
        )
    reported += [f'The line "{key}" exists more than once. The last one counts.' for key in repeated(text)]
    lines = {**parse(text), **given}
    return reported + misconfigurations({key: value for key, value in lines.items() if value is not None}, aliases)


# ---- writing


def _write(
    catalogue: Catalogue, group: str | None, writes: list[Write], reason: str, outcomes: list[Outcome]
) -> DrError | None:
    """Write the properties of a level with one PUT. The values that are read afterwards decide the outcome."""
    refused: DrError | None = None
    try:
        catalogue.service.put_config({write.property.name: write.value for write in writes}, reason, group)
    except DrError as error:
        refused = error
    catalogue.forget(group)
    try:
        now = {one.name: one for one in catalogue.level(group)}
    except DrError as error:
        cause = (refused or error).sentence()
        outcomes += [
            Outcome(write.change, "failed", f"It is unknown whether it was written: {cause}") for write in writes
        ]
        return refused or error
    taken = [write.taken(now.get(write.property.name)) for write in writes]
    for write, done in zip(writes, taken, strict=True):
        missed = refused.message if refused else "Cloudera Manager accepted the change but reports another value."
        outcomes.append(Outcome(write.change, "done") if done else Outcome(write.change, "failed", missed))
    if all(taken):
        return None
    if refused is not None:
        return refused
    names = ", ".join(f'"{write.property.name}"' for write, done in zip(writes, taken, strict=True) if not done)
    return DrError(
        "cm_not_applied",
        f"Cloudera Manager accepted the change but reports other values afterwards: {names}.",
        "Another user may have changed them at the same time. Start the same playbook again.",
        catalogue.service.client.url,
    )


def _again(catalogue: Catalogue, current: Property) -> Property:
    try:
        level = catalogue.level(current.group)
    except DrError:
        return current
    return next((one for one in level if one.name == current.name), current)


def _invalid(now: Sequence[Property], writes: Sequence[Write], result: Result) -> DrError | None:
    """Check Cloudera Manager's validation: an error of a written property is an error, all else is a warning."""
    written = {(write.property.group, write.property.name) for write in writes}
    errors = []
    for one in now:
        text = f'"{one.name}": {one.validation_message or "no message"}'
        if one.validation == "WARNING" or (one.validation == "ERROR" and (one.group, one.name) not in written):
            result.warnings.append(f"Cloudera Manager reports a validation {one.validation} for {text}")
        elif one.validation == "ERROR":
            errors.append(text)
    if not errors:
        return None
    text = f"Cloudera Manager stored the change but reports validation errors: {'; '.join(errors)}."
    return DrError("cm_value_invalid", text, "Correct the value. A restart would fail or ignore it.")
