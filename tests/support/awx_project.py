# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder awx/ as AWX 24.6.1 uses it: the loaded objects, and what a job gets from surveys and credentials.

Source: awx/main/models/mixins.py (surveys), awx/main/models/credential/__init__.py (injectors),
awx/main/models/unified_jobs.py (required fields), awx/main/utils/safe_yaml.py (extra variables).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkstemp
from types import SimpleNamespace
from typing import Any

import yaml
from jinja2 import StrictUndefined
from jinja2.nativetypes import NativeEnvironment
from jinja2.sandbox import ImmutableSandboxedEnvironment

from repository import ROOT, read

PROJECT = ROOT / "awx"


class Loader(yaml.SafeLoader):
    """Supports Ansible's ``!unsafe``."""


class Unsafe(str):
    """Text that is a template for AWX, not for Ansible."""

    __slots__ = ()


Loader.add_constructor("!unsafe", lambda _loader, node: Unsafe(node.value))


@cache
def configuration() -> dict[str, Any]:
    """awx/vars/controller.yml with its own ``setup_*`` variables inserted."""
    given = yaml.load(read(PROJECT / "vars" / "controller.yml"), Loader)
    known: dict[str, Any] = {}
    for name, value in given.items():
        known[name] = _rendered(value, known)
    return known


def templates() -> dict[str, dict[str, Any]]:
    """The job templates by the name of their playbook."""
    return {Path(one["playbook"]).stem: one for one in configuration()["controller_templates"]}


def questions(template: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = template.get("survey_spec", {}).get("spec", [])
    return found


class RefusedError(Exception):
    """AWX answers a launch with HTTP 400."""


def launched(template: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    """The extra variables of a job that a person, a schedule or a client of the API launches with ``answers``.

    AWX ignores an answer without a question. It adds the default of every question that has one.
    """
    spec = questions(template)
    problems = [text for one in spec for text in _problems(one, answers)]
    if problems:
        raise RefusedError({"variables_needed_to_start": problems})
    asked = {one["variable"] for one in spec}
    return merged(template, {name: value for name, value in answers.items() if name in asked})


def merged(template: Mapping[str, Any], runtime: Mapping[str, Any]) -> dict[str, Any]:
    """The extra variables of a job. ``runtime``: accepted answers, and what a workflow passes on."""
    own: dict[str, Any] = template["extra_vars"]
    defaults = {
        one["variable"]: one["default"]
        for one in questions(template)
        if one.get("default") is not None and not _problems(one, {one["variable"]: one["default"]})
    }
    return {**own, **defaults, **runtime}


def _problems(question: Mapping[str, Any], answers: Mapping[str, Any]) -> list[str]:
    """Why AWX refuses the answer to a question. It accepts an empty text, also for a required question without min."""
    variable, kind = question["variable"], question["type"]
    if variable not in answers:
        return [f"'{variable}' value missing"] if question["required"] else []
    value = answers[variable]
    low, high = (question.get(key) if question.get(key) != "" else None for key in ("min", "max"))
    if kind == "text":
        if not isinstance(value, str):
            return [f"Value {value} for '{variable}' expected to be a string."]
        if low is not None and len(value) < low:
            return [f"'{variable}' value {value} is too small (length is {len(value)} must be at least {low})."]
        long = high is not None and len(value) > high
        return [f"'{variable}' value {value} is too large (must be no more than {high})."] if long else []
    if kind == "integer":
        if not isinstance(value, int) or isinstance(value, bool):
            return [f"Value {value} for '{variable}' expected to be an integer."]
        if low is not None and value < low:
            return [f"'{variable}' value {value} is too small (must be at least {low})."]
        large = high is not None and value > high
        return [f"'{variable}' value {value} is too large (must be no more than {high})."] if large else []
    assert kind == "multiplechoice", kind
    choices = question["choices"]
    return [] if value in choices else [f"Value {value} for '{variable}' expected to be one of {choices}."]


class _UnsafeDumper(yaml.SafeDumper):
    """Writes each text, also a key, as ``!unsafe 'text'``."""

    def represent_data(self, data: Any) -> Any:
        return self.represent_scalar("!unsafe", data) if isinstance(data, str) else super().represent_data(data)


def written(variables: Mapping[str, Any], trusted: Mapping[str, Any]) -> str:
    """The file that AWX gives to ``ansible-playbook -e @file``. ``trusted``: those of the job template itself."""
    return "".join(
        yaml.dump_all(
            [{name: value}],
            Dumper=yaml.SafeDumper if name in trusted and trusted[name] == value else _UnsafeDumper,
            default_flow_style=False,
        )
        for name, value in variables.items()
    )


def kind_of(credential: str) -> dict[str, Any]:
    """The credential type of a credential, by its name."""
    (kind,) = [one["credential_type"] for one in configuration()["controller_credentials"] if one["name"] == credential]
    (found,) = [one for one in configuration()["controller_credential_types"] if one["name"] == kind]
    return dict(found)


def lacking(credential: str, inputs: Mapping[str, str]) -> str:
    """Why AWX does not start a job with this credential. "": it starts."""
    missing = sorted(name for name in kind_of(credential)["inputs"]["required"] if not inputs.get(name))
    return (
        f"Job cannot start because Credential {credential} does not provide one or more required fields"
        f" ({', '.join(missing)})."
        if missing
        else ""
    )


@dataclass(frozen=True)
class Injected:
    """What a job gets from a credential: arguments of ``ansible-playbook``, and environment variables."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def inject(kind: Mapping[str, Any], inputs: Mapping[str, str], folder: Path) -> Injected:
    """Write the files of a credential of this type below ``folder``."""
    jinja = ImmutableSandboxedEnvironment()
    tower = SimpleNamespace(filename=SimpleNamespace())
    known = {"tower": tower, **{name: value for name, value in inputs.items() if value}}
    for label, text in kind["injectors"].get("file", {}).items():
        path = _private_file(folder, jinja.from_string(text).render(known))
        setattr(tower.filename, label.removeprefix("template."), path)
    environment = {
        name: jinja.from_string(text).render(known) for name, text in kind["injectors"].get("env", {}).items()
    }
    extra = {
        name: jinja.from_string(text).render(known) for name, text in kind["injectors"].get("extra_vars", {}).items()
    }
    arguments = ("-e", f"@{_private_file(folder, written(extra, {}))}") if extra else ()
    return Injected(arguments, environment)


def _private_file(folder: Path, text: str) -> str:
    number, path = mkstemp(dir=folder)
    with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def _rendered(value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {key: _rendered(item, known) for key, item in value.items()}
    if isinstance(value, list):
        return [_rendered(item, known) for item in value]
    if isinstance(value, str) and not isinstance(value, Unsafe) and "{{" in value:
        return NativeEnvironment(undefined=StrictUndefined).from_string(value).render(known)
    return value
