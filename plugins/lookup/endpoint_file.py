# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the endpoint file of an application."""

from __future__ import annotations

DOCUMENTATION = r"""
name: endpoint_file
short_description: Render the endpoint file of an application (internal step)
version_added: 1.0.0
description:
  - Does the same as the lookup plugin P(ansible.builtin.template#lookup), without its deep copy of all variables. With
    the variables of 500 topics, that copy takes a quarter of a second for each application.
  - C(roles/clients/tasks/render.yml) uses it. It is internal to the roles of this collection.
options:
  _terms:
    description: Paths of the templates.
    type: list
    elements: str
    required: true
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Show the endpoint file of an application
  ansible.builtin.debug:
    msg: "{{ lookup('switchback.kafka_dr.endpoint_file', 'endpoint.properties.j2') }}"
"""

RETURN = r"""
_raw:
  description: The rendered files.
  type: list
  elements: str
  sample: ["bootstrap.servers=b1.example.com:9092\n"]
"""

from typing import Any

from ansible.plugins.loader import lookup_loader
from ansible.plugins.lookup import LookupBase


class _Shared(dict[str, Any]):
    """Variables that a deep copy shares: rendering does not change them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return dict(self)


class LookupModule(LookupBase):  # type: ignore[misc]  # Ansible has no types
    """The lookup plugin."""

    def run(self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[str]:
        """Return the rendered templates."""
        template = lookup_loader.get("ansible.builtin.template", loader=self._loader, templar=self._templar)
        rendered: list[str] = template.run(terms, variables=_Shared(variables or {}), **kwargs)
        return rendered
