#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what a problem report needs: brokers, journal and connectors of both clusters, and versions."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_support_info
short_description: Read what a problem report needs from both clusters (internal step)
version_added: 1.0.0
description:
  - A step of the roles of this collection. Its options may change in any release.
  - Returns, for each cluster, its brokers, its copy of the journal, and the MirrorMaker 2 connectors of its workers
    with states, settings and offsets. Secrets are masked.
  - Each part is read on its own. If a part cannot be read, its error is returned, and the other parts are still
    returned. A cluster that is dead does not fail the module.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.attributes.info_module
seealso:
  - module: switchback.kafka_dr.dr_support_bundle
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Read both clusters
  switchback.kafka_dr.dr_support_info:
    pair: "{{ kafka_dr_pair.spec }}"
    request_timeout: 10
  register: support

- name: Show why the journal of P cannot be read
  ansible.builtin.debug:
    msg: "{{ support.sides.P.journal.error | default('it was read') }}"
"""

RETURN = r"""
sides:
  description:
    - By alias, C(brokers) (id of the cluster, controller, brokers, and C(protocol), the version of the protocol between
      brokers where it is known), C(journal) (events, oldest first) and C(connectors) (C(kafka), the version of
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
  description: The requests that were sent, without secrets.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.support import support

SPEC = pair_option()


def work(module: AnsibleModule) -> Result:
    """Read each part."""
    params = module.params
    return support(pair_spec(params), params["request_timeout"], str(module.ansible_version))


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()
