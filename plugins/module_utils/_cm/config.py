# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes properties of a service be as declared: resolve, plan, one write for each level, read again, compare.

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
    """What is wanted: ``properties`` whole values, ``lines`` parts of a text, both by any name of the property."""

    properties: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    role_group: str | None = None
    aliases: Sequence[str] = ()
    update_secrets: str = "on_create"
    reason: str = REASON


def reconcile_config(service: CmService, wanted: Declared, check: bool, conceal: Callable[[str], None]) -> Result:
    """Make the properties be as declared. Everything that can be refused is, before anything is written.

    ``conceal`` is told each secret that only Cloudera Manager knows to be one.
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
    """The named properties, or every one that has a value; a name that is not known is a row without a property."""
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


def property_row(asked: str, found: Property | None, catalogue: Catalogue | None = None) -> dict[str, Any]:
    """A property as modules return it, without secrets."""
    if found is None:
        return {"asked": asked, "exists": False, "hint": catalogue.missing(asked).sentence() if catalogue else ""}
    return {
        "asked": asked,
        "exists": True,
        "name": found.name,
        "display_name": found.display,
        "level": found.level,
        "value": shown(found, found.value),
        "default": found.default,
        "effective": shown(found, found.effective),
        "sensitive": found.hidden,
        "validation": found.validation or None,
        "validation_message": found.validation_message,
        "lines": None if found.hidden or found.name != REPLICATION_CONFIGS else shown_lines(found),
    }


# ---- planning


def _plan(
    catalogue: Catalogue, wanted: Declared, result: Result, conceal: Callable[[str], None]
) -> tuple[list[Write], dict[str, Property]]:
    """What to write, and the properties that were named, by the name that was used for them."""
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
        result.warnings += reported + _about(asked[name], given, wanted.aliases)
    return [write for write in writes if write is not None], asked


def _refuse_twice(asked: Mapping[str, Property], names: Iterable[str]) -> None:
    by_place: dict[tuple[str | None, str], str] = {}
    for name in names:
        found = asked[name]
        first = by_place.setdefault((found.group, found.name), name)
        if first != name or list(names).count(name) > 1:
            text = f'"{first}" and "{name}" are the same property, "{found.name}".'
            raise DrError("cm_property_twice", text, "Name it once, in properties or in lines.")


def _about(found: Property, given: Mapping[str, str | None], aliases: Sequence[str]) -> list[str]:
    """What is strange about a text of lines, with what is wanted in it."""
    text = found.effective or ""
    reported = []
    if separator_of(text) == OLD_SEPARATOR:
        reported.append(
            f'"{found.name}" is joined by ";", the form of Runtime before 7.1.1, and stays so; '
            'a newer one expects "|" and would read it as a single line.'
        )
    reported += [f'The line "{key}" is there more than once; the last one counts.' for key in repeated(text)]
    lines = {**parse(text), **given}
    return reported + misconfigurations({key: value for key, value in lines.items() if value is not None}, aliases)


# ---- writing


def _write(
    catalogue: Catalogue, group: str | None, writes: list[Write], reason: str, outcomes: list[Outcome]
) -> DrError | None:
    """One PUT for a level. Whatever was answered, what is there afterwards decides how it ended."""
    refused: DrError | None = None
    try:
        catalogue.service.put_config({write.property.name: write.value for write in writes}, reason, group)
    except DrError as error:
        refused = error
    catalogue.forget(group)
    try:
        now = {one.name: one for one in catalogue.level(group)}
    except DrError as error:
        said = (refused or error).sentence()
        outcomes += [Outcome(write.change, "failed", f"It may have been written: {said}") for write in writes]
        return refused or error
    taken = [write.taken(now.get(write.property.name)) for write in writes]
    for write, done in zip(writes, taken, strict=True):
        missed = refused.message if refused else "It was accepted and is not there."
        outcomes.append(Outcome(write.change, "done") if done else Outcome(write.change, "failed", missed))
    if all(taken):
        return None
    if refused is not None:
        return refused
    names = ", ".join(f'"{write.property.name}"' for write, done in zip(writes, taken, strict=True) if not done)
    return DrError(
        "cm_not_applied",
        f"Cloudera Manager accepted the change and shows other values afterwards: {names}.",
        "Somebody else may have written at the same time. Run the task again.",
        catalogue.service.client.url,
    )


def _again(catalogue: Catalogue, found: Property) -> Property:
    try:
        level = catalogue.level(found.group)
    except DrError:
        return found
    return next((one for one in level if one.name == found.name), found)


def _invalid(now: Sequence[Property], writes: Sequence[Write], result: Result) -> DrError | None:
    """Cloudera Manager's own judgement: warnings are handed on, an error of what was written stops the task."""
    written = {(write.property.group, write.property.name) for write in writes}
    errors = []
    for one in now:
        text = f'"{one.name}": {one.validation_message or "without a word"}'
        if one.validation == "WARNING" or (one.validation == "ERROR" and (one.group, one.name) not in written):
            result.warnings.append(f"Cloudera Manager has a validation {one.validation} for {text}")
        elif one.validation == "ERROR":
            errors.append(text)
    if not errors:
        return None
    text = f"Cloudera Manager stored what it holds to be wrong: {'; '.join(errors)}."
    return DrError("cm_value_invalid", text, "Correct the value: a restart would fail or ignore it.")
