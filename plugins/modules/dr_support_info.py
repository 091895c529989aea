#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what a report of a problem needs: brokers, journal and connectors of both sides, and versions."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_support_info
short_description: Read what a report of a problem needs of both sides
version_added: 1.0.0
description:
  - For each side its brokers, its copy of the journal, and the MirrorMaker 2 connectors of the workers beside it with
    states, settings and offsets; secrets are masked.
  - Each part is looked at by itself. One that cannot be had is told with its reason and hides no other one; a side
    that is dead is no failure.
extends_documentation_fragment:
  - switchback.kafka_dr.journal
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.attributes.info_module
options:
  clusters:
    description: The two clusters by alias, as C(kafka_dr_pair.clusters) has them.
    type: dict
    required: true
  request_timeout:
    description: Seconds for one request.
    type: float
    default: 10.0
seealso:
  - module: switchback.kafka_dr.dr_support_bundle
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: What do both sides tell?
  switchback.kafka_dr.dr_support_info:
    clusters: "{{ kafka_dr_pair.clusters }}"
    pair: B-P
  register: support

- name: Why does P not tell its journal?
  ansible.builtin.debug:
    msg: "{{ support.sides.P.journal.error | default('it does') }}"
"""

RETURN = r"""
sides:
  description:
    - By alias, C(brokers) (id of the cluster, controller, brokers, and C(protocol), the version that they speak with
      each other where they tell it), C(journal) (events, oldest first) and C(connectors) (C(kafka), the version of
      the workers, and C(connectors)).
    - Each is a dictionary with C(found), or with C(error) in words.
  returned: success
  type: dict
versions:
  description:
    - Versions of C(collection), C(ansible_core), C(python), C(confluent_kafka), C(librdkafka), C(java) and C(system)
      where this runs. Null where there is none.
  returned: success
  type: dict
requests:
  description: What was asked, without secrets.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import journal_options
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.support import support

SPEC = ArgumentSpec(
    {
        "clusters": {"type": "dict", "required": True},
        "request_timeout": {"type": "float", "default": 10.0},
    }
).merge(journal_options())


def work(module: AnsibleModule) -> Result:
    """Look at each part."""
    return support(module.params, str(module.ansible_version))


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()
