#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Give rights to principals, and take them away: a whole list in a handful of requests."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_acl
short_description: Give and take away rights on a Kafka cluster
version_added: 1.0.0
description:
  - Makes a list of access control entries (ACLs) exist, or not exist, over one connection and in a few requests.
  - Only the principals that are named are looked at. Rights of others are never touched.
  - What needs to be added is added before anything is taken away, so that nobody is for a moment without a right that
    is only written in another way.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  acls:
    description:
      - The entries. Repetitions are dropped.
      - An operation that Kafka never asks for on that kind of resource, a host name in place of an address and the
        prefix V(*) are refused, because they would have no effect. With O(state=absent) they are accepted.
    type: list
    elements: dict
    default: []
    suboptions:
      principal:
        description:
          - Who, with its type, for example V(User:payments-api). V(User:*) is everybody.
        type: str
        required: true
      host:
        description:
          - From which address. V(*) is any.
        type: str
        default: "*"
      operation:
        description:
          - What. Kafka takes V(read), V(write), V(delete) and V(alter) for V(describe) too, and V(alter_configs) for
            V(describe_configs).
          - A transactional producer needs V(write) on its transactional id, an idempotent one V(write) on its topics.
        type: str
        required: true
        choices:
          - all
          - alter
          - alter_configs
          - cluster_action
          - create
          - delete
          - describe
          - describe_configs
          - idempotent_write
          - read
          - write
      permission:
        description:
          - V(deny) goes before every V(allow).
        type: str
        choices: [allow, deny]
        default: allow
      resource_type:
        description:
          - On which kind of resource.
        type: str
        required: true
        choices: [topic, group, cluster, transactional_id]
      name:
        description:
          - Name of the resource, V(*) for all of them, or how their names begin with O(acls[].pattern_type=prefixed).
          - Required, except for the resource type V(cluster).
        type: str
      pattern_type:
        description:
          - Whether O(acls[].name) is the whole name.
        type: str
        choices: [literal, prefixed]
        default: literal
  state:
    description:
      - V(present) adds what is missing and takes nothing away.
      - V(absent) takes away exactly the listed entries.
      - V(exact) adds what is missing and takes away all other entries of the principals in O(acls) and
        O(principals), but for those in O(keep). Do not name the principal of the task itself unless its rights are in
        the list.
    type: str
    choices: [present, absent, exact]
    default: present
  principals:
    description:
      - Further principals to look at. With O(state=exact) those without an entry in O(acls) lose all of theirs.
    type: list
    elements: str
    default: []
  keep:
    description: Entries that O(state=exact) leaves alone, whether they are there or not. They look like O(acls).
    type: list
    elements: dict
    default: []
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.wait
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
notes:
  - Its own principal needs DESCRIBE and ALTER on the cluster, or has to be a super user.
  - After a change it waits until the broker shows it.
  - Entries for delegation tokens and users, and those with an operation that librdkafka does not know, are neither
    shown nor changed.
seealso:
  - module: switchback.kafka_dr.kafka_topic
"""

EXAMPLES = r"""
- name: The payments API writes, the settlement reads on both sides of a cutover
  switchback.kafka_dr.kafka_acl:
    bootstrap_servers: b1.example.com:9093
    client: "{{ kafka_dr_clusters.B.admin_client }}"
    acls:
      - {principal: "User:payments-api", operation: write, resource_type: topic, name: Payments}
      - {principal: "User:settlement", operation: read, resource_type: topic, name: Payments}
      - {principal: "User:settlement", operation: read, resource_type: topic, name: P.Payments}
      - {principal: "User:settlement", operation: read, resource_type: group, name: settlement}

- name: MirrorMaker 2 may do what it needs with replicas and its own topics, and nothing else
  switchback.kafka_dr.kafka_acl:
    bootstrap_servers: b1.example.com:9093
    client: "{{ kafka_dr_clusters.B.admin_client }}"
    state: exact
    acls: "{{ flow_acls }}"
  check_mode: true
  diff: true

- name: Nobody writes this topic while it is looked at
  switchback.kafka_dr.kafka_acl:
    bootstrap_servers: p1.example.com:9093
    client: "{{ kafka_dr_clusters.P.admin_client }}"
    acls:
      - principal: "User:*"
        operation: write
        permission: deny
        resource_type: topic
        name: Payments

- name: A retired application has no rights any more
  switchback.kafka_dr.kafka_acl:
    bootstrap_servers: p1.example.com:9093
    client: "{{ kafka_dr_clusters.P.admin_client }}"
    state: exact
    principals: ["User:legacy-batch"]
"""

RETURN = r"""
acls:
  description:
    - All entries of the principals in question after the changes, in check mode as they would be.
  returned: when the cluster was looked at
  type: list
  elements: dict
  sample:
    - principal: User:settlement
      resource_type: group
      name: settlement
      operation: read
      pattern_type: literal
      permission: allow
      host: "*"
changes:
  description:
    - What was done, or in check mode would be done; entries that are as wanted are not listed.
  returned: always
  type: list
  elements: dict
  contains:
    kind:
      description: Always V(acl).
      type: str
    name:
      description: The entry in words.
      type: str
    action:
      description: V(create) or V(delete).
      type: str
    before:
      description: The entry, null if it did not exist.
      type: dict
    after:
      description: The entry, null if it is deleted.
      type: dict
    status:
      description: V(done), V(planned) in check mode, or V(failed).
      type: str
    error:
      description: Why it failed.
      type: str
  sample:
    - kind: acl
      name: "allow User:settlement from *: read group literal settlement"
      action: create
      before: null
      after:
        principal: User:settlement
        resource_type: group
        name: settlement
        operation: read
        pattern_type: literal
        permission: allow
        host: "*"
      status: done
      error: null
requests:
  description: Requests that were sent, without secrets.
  returned: when the cluster was looked at
  type: list
  elements: dict
  sample:
    - {api: describe_cluster}
    - {api: describe_acls, principals: 1}
error:
  description: What went wrong, for playbooks that branch on it.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - For example V(bad_acls), V(no_authorizer), V(not_authorized), V(wrong_cluster), V(kafka_unreachable),
          V(acl_refused) or V(acl_not_shown).
      type: str
    message:
      description: What was wanted and what was found.
      type: str
    hint:
      description: What to do next.
      type: str
    endpoint:
      description: Where it happened.
      type: str
"""

from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.acl import (
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSIONS,
    RESOURCE_TYPES,
    after,
    failure_of,
    named,
    plan,
    wanted_acls,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.acls import apply, describe, wait_for_broker
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import connect
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    bounds_of,
    kafka_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

ACL = {
    "principal": {"type": "str", "required": True},
    "host": {"type": "str", "default": "*"},
    "operation": {"type": "str", "required": True, "choices": list(OPERATIONS)},
    "permission": {"type": "str", "choices": list(PERMISSIONS), "default": "allow"},
    "resource_type": {"type": "str", "required": True, "choices": list(RESOURCE_TYPES)},
    "name": {"type": "str"},
    "pattern_type": {"type": "str", "choices": list(PATTERN_TYPES), "default": "literal"},
}
OPTIONS = ArgumentSpec(
    {
        "acls": {"type": "list", "elements": "dict", "default": [], "options": ACL},
        "state": {"type": "str", "choices": ["present", "absent", "exact"], "default": "present"},
        "principals": {"type": "list", "elements": "str", "default": []},
        "keep": {"type": "list", "elements": "dict", "default": []},
    }
)


def reconcile(module: AnsibleModule) -> Result:
    """Check the list, look at the principals' rights, plan, apply, and look again until the broker shows it."""
    state = module.params["state"]
    wanted = wanted_acls(module.params["acls"], state)
    principals = named(wanted, module.params["principals"], state)
    kafka = connect(module.params)
    found = describe(kafka, principals)
    changes = plan(wanted, found, state, principals, wanted_acls(module.params["keep"], "absent"))
    outcomes = apply(kafka, changes, module.check_mode)
    failure = failure_of(outcomes, kafka.bootstrap_servers)
    if not module.check_mode:
        failure = failure or wait_for_broker(kafka, outcomes, bounds_of(module.params))
    kept = [outcome.change for outcome in outcomes if outcome.status != "failed"]
    extra = {"acls": [asdict(acl) for acl in after(found, kept)]}
    return Result(outcomes=outcomes, requests=kafka.requests, extra=extra, failure=failure)


def main() -> None:
    """Run the module."""
    run(kafka_options().merge(wait_options(), OPTIONS, guard_options()).create_module(), guarded(reconcile))


if __name__ == "__main__":
    main()
