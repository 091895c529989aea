# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder awx/ as AWX uses it: the loaded objects, and the variables that a job gets from
surveys and credentials.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined
from jinja2.nativetypes import NativeEnvironment
from jinja2.sandbox import ImmutableSandboxedEnvironment

from repository import ROOT as ROOT
from repository import read

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


def answered(template: Mapping[str, Any], **given: Any) -> dict[str, Any]:
    """The extra variables of a job: the template's, and answers or defaults of its survey only."""
    spec = questions(template)
    unknown = set(given) - {one["variable"] for one in spec}
    missing = {one["variable"] for one in spec if one["required"]} - set(given)
    assert not unknown, f"not asked for: {unknown}"
    assert not missing, f"required: {missing}"
    defaults = {one["variable"]: one["default"] for one in spec if "default" in one}
    own: dict[str, Any] = template["extra_vars"]
    return own | defaults | given


def injected(kind: Mapping[str, Any], inputs: Mapping[str, str], files: Mapping[str, str]) -> dict[str, str]:
    """The extra variables that a credential of a type gives to a job. ``files``: the paths of its files, by name."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    known = {**inputs, "tower": {"filename": dict(files)}}
    extra: dict[str, str] = kind["injectors"]["extra_vars"]
    return {name: environment.from_string(text).render(known) for name, text in extra.items()}


def _rendered(value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {key: _rendered(item, known) for key, item in value.items()}
    if isinstance(value, list):
        return [_rendered(item, known) for item in value]
    if isinstance(value, str) and not isinstance(value, Unsafe) and "{{" in value:
        return NativeEnvironment(undefined=StrictUndefined).from_string(value).render(known)
    return value
