#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add and delete access control entries of principals, a whole list in a few requests."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_acl
short_description: Add and delete access control entries of a Kafka cluster
version_added: 1.0.0
description:
  - Adds or deletes a list of access control entries (ACLs). It uses one connection and a few requests.
  - The module reads and changes only the entries of the named principals.
  - It adds entries before it deletes any. A right that is only written in another form is never missing in between.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  acls:
    description:
      - The entries. Duplicates are ignored.
      - The module refuses entries that have no effect. These are an operation that Kafka never checks on that resource
        type, a host name instead of an address, and the prefix V(*). With O(state=absent) it accepts them.
    type: list
    elements: dict
    default: []
    suboptions:
      principal:
        description:
          - The principal with its type, for example V(User:payments-api). V(User:*) means every user.
        type: str
        required: true
      host:
        description:
          - The client's address. V(*) means any address.
        type: str
        default: "*"
      operation:
        description:
          - The operation. In Kafka, V(read), V(write), V(delete) and V(alter) imply V(describe), and V(alter_configs)
            implies V(describe_configs).
          - A transactional producer needs V(write) on its transactional id. An idempotent producer needs V(write) on
            its topics.
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
          - Whether to allow or to deny the operation. V(deny) takes precedence over every V(allow).
        type: str
        choices: [allow, deny]
        default: allow
      resource_type:
        description:
          - The type of the resource.
        type: str
        required: true
        choices: [topic, group, cluster, transactional_id]
      name:
        description:
          - Name of the resource. V(*) means all resources of this type. With O(acls[].pattern_type=prefixed), the
            prefix of their names.
          - Required, except for the resource type V(cluster).
        type: str
      pattern_type:
        description:
          - Whether O(acls[].name) is a whole name or a prefix.
        type: str
        choices: [literal, prefixed]
        default: literal
  state:
    description:
      - V(present) adds missing entries and deletes nothing.
      - V(absent) deletes exactly the listed entries.
      - V(exact) adds missing entries and deletes all other entries of the principals in O(acls) and O(principals),
        except those in O(keep). Do not list the principal of the task itself unless the list contains its rights.
    type: str
    choices: [present, absent, exact]
    default: present
  principals:
    description:
      - Further principals to read. With O(state=exact), a principal without an entry in O(acls) loses all its entries.
    type: list
    elements: str
    default: []
  keep:
    description: Entries that O(state=exact) never adds or deletes. They have the form of O(acls).
    type: list
    elements: dict
    default: []
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.confluent_kafka
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
notes:
  - The principal of the task needs DESCRIBE and ALTER on the cluster, or must be a super user.
  - After a change, the module waits until the broker returns it.
  - The module ignores entries for delegation tokens and users, and entries with an operation that librdkafka does not
    know.
seealso:
  - module: switchback.kafka_dr.kafka_topic
  - module: switchback.kafka_dr.kafka_group
  - name: Authorization and ACLs
    description: Which operation Kafka checks on which resource.
    link: https://kafka.apache.org/documentation/#security_authz
"""

EXAMPLES = r"""
- name: Let the payments API write and settlement read on the cluster that they move to
  switchback.kafka_dr.kafka_acl:
    bootstrap_servers: b1.example.com:9093
    client: &admin
      security.protocol: SASL_SSL
      sasl.mechanisms: SCRAM-SHA-512
      sasl.username: admin
      sasl.password: "{{ vault_kafka_password }}"
      ssl.ca.location: /etc/kafka/ca.pem
    acls:
      - {principal: "User:payments-api", operation: write, resource_type: topic, name: Payments}
      - {principal: "User:settlement", operation: read, resource_type: topic, name: Payments}
      - {principal: "User:settlement", operation: read, resource_type: topic, name: P.Payments}
      - {principal: "User:settlement", operation: read, resource_type: group, name: settlement}

- name: Show which rights fraud detection would get and lose if it had exactly these
  switchback.kafka_dr.kafka_acl:
    bootstrap_servers: b1.example.com:9093
    client: *admin
    state: exact
    acls:
      - {principal: "User:fraud", operation: read, resource_type: topic, name: Payments}
      - {principal: "User:fraud", operation: read, resource_type: group, name: fraud-, pattern_type: prefixed}
  check_mode: true
  diff: true

- name: Deny every user to write a topic while it is investigated
  switchback.kafka_dr.kafka_acl:
    bootstrap_servers: p1.example.com:9093
    client: *admin
    acls:
      - principal: "User:*"
        operation: write
        permission: deny
        resource_type: topic
        name: Payments

- name: Delete all rights of a retired application
  switchback.kafka_dr.kafka_acl:
    bootstrap_servers: p1.example.com:9093
    client: *admin
    state: exact
    principals: ["User:legacy-batch"]
"""

RETURN = r"""
acls:
  description:
    - All entries of the named principals after the changes. In check mode, as they would be.
  returned: when the module has read the cluster
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
    - What the module did, or would do in check mode. Entries that need no change are not listed.
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
      description: The entry before the change. Null if it did not exist.
      type: dict
    after:
      description: The entry after the change. Null if it is deleted.
      type: dict
    status:
      description: V(done), V(planned) in check mode, or V(failed).
      type: str
    error:
      description: Why the change failed.
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
  description: Requests that the module sent, without secrets.
  returned: when the module has read the cluster
  type: list
  elements: dict
  sample:
    - {api: describe_cluster}
    - {api: describe_acls, principals: 1}
error:
  description: Why the task failed, for playbooks that branch on the reason.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - For example V(bad_acls), V(no_authorizer), V(not_authorized), V(wrong_cluster), V(kafka_unreachable),
          V(acl_refused) or V(acl_not_shown).
      type: str
    message:
      description: What failed, with the value found and the value wanted.
      type: str
    hint:
      description: What to do next.
      type: str
    endpoint:
      description: Address of the peer that caused the error.
      type: str
  sample:
    code: no_authorizer
    message: Kafka at "b1.example.com:9093" has no authorizer.
    hint: Set authorizer.class.name on brokers and controllers, and restart them.
    endpoint: b1.example.com:9093
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
    """Validate the list, plan and apply the changes, and wait until the broker returns them."""
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
