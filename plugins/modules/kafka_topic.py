#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create, extend, configure and delete Kafka topics."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_topic
short_description: Create, extend, configure and delete Kafka topics
version_added: 1.0.0
description:
  - Creates, extends, configures or deletes a list of topics. It uses one connection and a few batched requests.
  - It adds partitions but never removes them, and it never moves replicas. Settings that O(topics[].config) does not
    mention stay unchanged, unless O(config_mode=exact).
  - In check mode the broker validates every new topic, every added partition and every setting. You see a refusal
    before you apply the change.
  - If one topic fails, the module still handles the other topics. The task then fails once, and RV(changes) holds the
    outcome of every topic.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  topics:
    description:
      - The topics. Each name may occur once.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the topic.
        type: str
        required: true
      partitions:
        description:
          - Number of partitions. A topic with fewer partitions is extended. A topic with more partitions is an error.
          - If not set, a new topic gets the broker's default and an existing topic stays unchanged.
        type: int
      replication_factor:
        description:
          - Number of replicas of each partition. An existing topic with another number is an error, because only a
            partition reassignment can move replicas.
          - If not set, a new topic gets the broker's default and an existing topic stays unchanged.
        type: int
      config:
        description:
          - Topic settings by name. The module compares the meaning of a value with the effective value. A boolean
            equals the text V(true), V(604800000) equals V(7d), V(1GiB) equals V(1073741824), and the order in
            V(cleanup.policy) does not matter. If the default of a setting already equals the value, nothing changes.
          - V(null) removes the topic's own value. The default applies then.
        type: dict
        default: {}
  state:
    description:
      - V(present) creates missing topics, and extends and configures existing ones.
      - V(absent) deletes exactly the named topics with all their records. It refuses topics that belong to Kafka, Kafka
        Connect or MirrorMaker 2.
    type: str
    choices: [present, absent]
    default: present
  config_mode:
    description:
      - V(merge) leaves settings unchanged that O(topics[].config) does not mention.
      - V(exact) removes the topic's own values of those settings. Their defaults apply then.
    type: str
    choices: [merge, exact]
    default: merge
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.confluent_kafka
attributes:
  check_mode:
    support: partial
    details:
      - The broker validates everything except deletions. Kafka has no validation for them.
  diff_mode:
    support: full
  idempotent:
    support: full
notes:
  - After a change, the module waits until the brokers return it and until every new partition has a leader.
seealso:
  - module: switchback.kafka_dr.kafka_topic_info
  - module: switchback.kafka_dr.kafka_acl
  - module: switchback.kafka_dr.connect_mirror
  - name: Kafka topic configuration reference
    description: Names, types and defaults of the settings in O(topics[].config).
    link: https://kafka.apache.org/documentation/#topicconfigs
"""

EXAMPLES = r"""
- name: Create the payments topic and its dead letter topic
  switchback.kafka_dr.kafka_topic:
    bootstrap_servers: p1.example.com:9092,p2.example.com:9092
    expected_cluster_id: 4L6g3nShT-eMCtK--X86sw
    topics:
      - name: Payments
        partitions: 12
        replication_factor: 3
        config:
          retention.ms: 7d
          min.insync.replicas: 2
      - name: Payments-dead
        partitions: 1
        replication_factor: 3
        config:
          cleanup.policy: [compact, delete]

- name: Ask the brokers over TLS whether they would accept the topic
  switchback.kafka_dr.kafka_topic:
    bootstrap_servers: p1.example.com:9093
    client:
      security.protocol: SASL_SSL
      sasl.mechanisms: SCRAM-SHA-512
      sasl.username: admin
      sasl.password: "{{ vault_kafka_password }}"
      ssl.ca.location: /etc/kafka/ca.pem
    topics:
      - {name: Refunds, partitions: 6, replication_factor: 3}
  check_mode: true
  diff: true

- name: Remove all own settings except one (fails if Payments has more than 12 partitions)
  switchback.kafka_dr.kafka_topic:
    bootstrap_servers: p1.example.com:9092
    config_mode: exact
    topics:
      - name: Payments
        partitions: 12
        config: {min.insync.replicas: 2}

- name: Delete the topic of a retired application
  switchback.kafka_dr.kafka_topic:
    bootstrap_servers: p1.example.com:9092
    state: absent
    topics:
      - name: legacy-batch-input
"""

RETURN = r"""
changes:
  description:
    - What the module did, or would do in check mode. Topics that need no change are not listed.
  returned: always
  type: list
  elements: dict
  contains:
    kind:
      description: Always V(topic).
      type: str
    name:
      description: Name of the topic.
      type: str
    action:
      description:
        - V(create), V(add_partitions), V(alter_config) or V(delete). V(reassign) occurs only as a refused change.
      type: str
    before:
      description: Values before the change. Null if the topic did not exist.
      type: dict
    after:
      description: Values after the change. Null if the topic is deleted. A setting of null falls back to its default.
      type: dict
    status:
      description: V(done), V(planned) in check mode, or V(failed).
      type: str
    error:
      description: Why the change failed.
      type: str
  sample:
    - kind: topic
      name: Payments
      action: add_partitions
      before: {partitions: 6}
      after: {partitions: 12}
      status: done
      error: null
requests:
  description: Requests that the module sent, without secrets.
  returned: when the module has read the topics
  type: list
  elements: dict
  sample:
    - {api: describe_cluster}
    - {api: describe_topics, topics: 2}
error:
  description: Why the task failed, for playbooks that branch on the reason.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - For example V(bad_topics), V(wrong_cluster), V(kafka_unreachable), V(partitions_fewer),
          V(replication_factor_differs), V(replication_factor_too_high), V(topic_internal), V(topic_refused) or
          V(topic_not_ready). V(several_failed) if topics failed for different reasons.
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
    code: partitions_fewer
    message: Topic "Payments" has 12 partitions, 6 wanted; Kafka cannot remove partitions.
    hint: "Set partitions: 12 or recreate the topic."
    endpoint: p1.example.com:9092
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Outcome
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import (
    Plan,
    WantedTopic,
    collisions,
    failure_of,
    plan_absent,
    plan_present,
    wanted_topics,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka, connect
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import (
    apply,
    describe,
    unsettled,
    without_collector,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    kafka_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

TOPIC = {
    "name": {"type": "str", "required": True},
    "partitions": {"type": "int"},
    "replication_factor": {"type": "int"},
    "config": {"type": "dict", "default": {}},
}
OPTIONS = ArgumentSpec(
    {
        "topics": {"type": "list", "elements": "dict", "required": True, "options": TOPIC},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "config_mode": {"type": "str", "choices": ["merge", "exact"], "default": "merge"},
    }
)


def reconcile(module: AnsibleModule) -> Result:
    """Validate the list, plan and apply the changes, and wait until the brokers return them."""
    wanted = wanted_topics(module.params["topics"], module.params["state"])
    kafka = connect(module.params)
    plan = make_plan(kafka, wanted, module.params)
    outcomes = apply(kafka, plan.changes, module.check_mode)
    result = Result(
        outcomes=[Outcome(conflict.change, "failed", conflict.error.sentence()) for conflict in plan.conflicts],
        requests=kafka.requests,
        warnings=collisions(topic.name for topic in wanted),
        failure=failure_of(plan.conflicts, outcomes, kafka.bootstrap_servers),
    )
    result.outcomes += outcomes
    if not module.check_mode:
        late = wait_for_brokers(kafka, outcomes, module.params)
        result.failure = result.failure or late
    return result


def make_plan(kafka: Kafka, wanted: list[WantedTopic], params: dict[str, Any]) -> Plan:
    """Compare the wanted topics with the cluster. Reads settings only of topics that need them."""
    if params["state"] == "absent":
        return plan_absent(wanted, describe(kafka, [topic.name for topic in wanted]))
    exact = params["config_mode"] == "exact"
    settings = {topic.name: topic.config for topic in wanted if topic.config or exact}
    found = describe(kafka, [topic.name for topic in wanted], settings)
    return plan_present(wanted, found, exact)


def wait_for_brokers(kafka: Kafka, outcomes: list[Outcome], params: dict[str, Any]) -> DrError | None:
    """Wait until the brokers return all changes that were done. Returns the error if they do not in time."""
    open_changes = [outcome.change for outcome in outcomes if outcome.status == "done"]
    if not open_changes:
        return None
    bounds = Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])

    def observe() -> int:
        open_changes[:] = unsettled(kafka, open_changes)
        return len(open_changes)

    try:
        waited = wait_until(observe, lambda left: left == 0, bounds, progress=lambda left: left)
    except DrError as error:
        # Return the error with the outcomes: a missing response must not hide what was done.
        return error
    if waited.done:
        return None
    named = ", ".join(f"{change.name} ({change.action})" for change in open_changes[:5])
    return DrError(
        "topic_not_ready",
        f"{waited.state} changed topics are not in the wanted state after {waited.seconds:.1f} s: {named}.",
        "The changes were accepted. Check that every partition has a leader, then run this again.",
        kafka.bootstrap_servers,
    )


def main() -> None:
    """Run the module."""
    with without_collector():
        run(kafka_options().merge(wait_options(), OPTIONS, guard_options()).create_module(), guarded(reconcile))


if __name__ == "__main__":
    main()
