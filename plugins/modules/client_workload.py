#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Point applications on Kubernetes at a cluster, stop them and start them, all at the same time."""

from __future__ import annotations

DOCUMENTATION = r"""
module: client_workload
short_description: Stop, point or start applications that are Deployments or StatefulSets
version_added: 1.0.0
description:
  - >-
    A stop remembers the number of replicas in an annotation, pauses the KEDA ScaledObject of the workload, scales to 0
    and waits until no pod is left. A pod that terminates may still flush records.
  - >-
    A start writes the endpoint into the ConfigMap or Secret, scales back to the remembered number, and waits until
    every replica is ready.
  - A workload that Argo CD or Flux applies is refused, because they would set its replicas back.
  - The module handles all applications of one task at the same time. If the order matters, use one task for each step.
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  state:
    description: Whether the applications are to be stopped or started.
    type: str
    choices: [stopped, started]
    required: true
  workloads:
    description: The applications.
    type: list
    elements: dict
    required: true
    suboptions:
      client:
        description: Name of the application, for the result.
        type: str
        required: true
      url:
        description: Address of the API server. Required without O(workloads[].kubeconfig).
        type: str
      ca_path:
        description: File with the certificate authority of the API server.
        type: path
      token:
        description: Bearer token.
        type: str
      token_file:
        description: File with a bearer token that another program renews. The module reads it for each request.
        type: path
      client_cert:
        description: File with a client certificate.
        type: path
      client_key:
        description: File with the key of O(workloads[].client_cert).
        type: path
      validate_certs:
        description: Whether to verify the certificate of the API server.
        type: bool
        default: true
      use_proxy:
        description: Whether to use a proxy. If not set, for every address except the local host.
        type: bool
      kubeconfig:
        description: A kubeconfig file, in place of address and login. A user that starts a program is refused.
        type: path
      context:
        description: Context of the kubeconfig file. If not set, its current context.
        type: str
      namespace:
        description: Namespace of the workload.
        type: str
        required: true
      kind:
        description: Kind of the workload.
        type: str
        choices: [Deployment, StatefulSet]
        default: Deployment
      name:
        description: Name of the workload.
        type: str
        required: true
      endpoint_kind:
        description: Kind of the resource that holds the endpoint.
        type: str
        choices: [ConfigMap, Secret]
        default: ConfigMap
      endpoint_name:
        description: Name of that resource in the same namespace. If not set, a start writes no endpoint.
        type: str
      endpoint_key:
        description: Key of that resource.
        type: str
        default: kafka.env
      content:
        description: The value to write under O(workloads[].endpoint_key).
        type: str
      gitops_suspended:
        description:
          - Whether the GitOps tool that applies the workload is suspended, or leaves its replicas alone.
          - The module then stops the workload despite the marks of that tool. It fails if the replicas change again.
        type: bool
        default: false
  timeout:
    description: Seconds within which a workload must have no pods, or be ready.
    type: float
    default: 60.0
  request_timeout:
    description: Seconds for one request to the API server.
    type: float
    default: 15.0
attributes:
  check_mode:
    support: full
    details: The module reads the workloads and reports what it would change.
  diff_mode:
    support: partial
    details: Shows replicas and which endpoints differ, but not their content, because it may hold secrets.
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.client_control
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Stop a producer that is a Deployment
  switchback.kafka_dr.client_workload:
    state: stopped
    workloads:
      - {client: payments-api, kubeconfig: /etc/kafka-dr/kubeconfig, namespace: shop, name: payments-api}

- name: Point it at B and start it
  switchback.kafka_dr.client_workload:
    state: started
    workloads:
      - client: payments-api
        kubeconfig: /etc/kafka-dr/kubeconfig
        namespace: shop
        name: payments-api
        endpoint_name: payments-kafka
        content: "KAFKA_BOOTSTRAP_SERVERS=b1.example.com:9092\n"

- name: Show what a stop would change
  switchback.kafka_dr.client_workload:
    state: stopped
    workloads:
      - {client: payments-api, kubeconfig: /etc/kafka-dr/kubeconfig, namespace: shop, name: payments-api}
  check_mode: true
  diff: true
"""

RETURN = r"""
clients:
  description:
    - One row for each application with C(name), C(changed), C(seconds) and C(error) (null if it did not fail).
  returned: always
  type: list
  elements: dict
  sample:
    - {name: payments-api, changed: true, seconds: 2.1, error: null}
changes:
  description: The changed workloads, scalers and endpoints. In check mode, those that would be changed.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: workload
      name: Deployment shop/payments-api
      action: scale
      before: {replicas: 3}
      after: {replicas: 0}
      status: done
      error: null
requests:
  description: The requests to API servers, without their content.
  returned: always
  type: list
  elements: dict
  sample:
    - {method: GET, path: /apis/apps/v1/namespaces/shop/deployments/payments-api}
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: workload_not_stopped
    message: 'The Deployment shop/payments-api still has 1 pods after 60 s: payments-api-5d9c Terminating.'
    hint: A pod that terminates may still write records.
    endpoint: https://api.example.com:6443
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._kubernetes.control import control
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

LOCAL_RUN = {"fast": True}
WORKLOAD = {
    "client": {"type": "str", "required": True},
    "url": {"type": "str"},
    "ca_path": {"type": "path"},
    "token": {"type": "str", "no_log": True},
    # Not a secret: the path of a file.
    "token_file": {"type": "path", "no_log": False},
    "client_cert": {"type": "path"},
    "client_key": {"type": "path", "no_log": False},
    "validate_certs": {"type": "bool", "default": True},
    "use_proxy": {"type": "bool"},
    "kubeconfig": {"type": "path"},
    "context": {"type": "str"},
    "namespace": {"type": "str", "required": True},
    "kind": {"type": "str", "choices": ["Deployment", "StatefulSet"], "default": "Deployment"},
    "name": {"type": "str", "required": True},
    "endpoint_kind": {"type": "str", "choices": ["ConfigMap", "Secret"], "default": "ConfigMap"},
    "endpoint_name": {"type": "str"},
    # Not a secret: the name of a key.
    "endpoint_key": {"type": "str", "default": "kafka.env", "no_log": False},
    # An endpoint can contain passwords.
    "content": {"type": "str", "no_log": True},
    "gitops_suspended": {"type": "bool", "default": False},
}
SPEC = ArgumentSpec(
    {
        "state": {"type": "str", "choices": ["stopped", "started"], "required": True},
        "workloads": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": WORKLOAD,
            "required_one_of": [("url", "kubeconfig")],
            "mutually_exclusive": [("url", "kubeconfig")],
        },
        "timeout": {"type": "float", "default": 60.0},
        "request_timeout": {"type": "float", "default": 15.0},
    }
).merge(guard_options())


def work(module: AnsibleModule) -> Result:
    """Stop or start the workloads and return the result."""
    params = module.params
    starts = params["state"] == "started"
    return control(params["workloads"], starts, params["timeout"], params["request_timeout"], module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()
