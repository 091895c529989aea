# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that identify the run or the lease that a controller holds. Private to this collection."""

from __future__ import annotations


class ModuleDocFragment:
    """``journal.guard`` documents ``guard_options()``, ``journal.holder_generation`` ``generation_options()``."""

    HOLDER_GENERATION = r"""
options:
  holder_generation:
    description:
      - How often the run had been resumed when this playbook took it (C(state.run.resumed) of RV(ignore:state)).
      - If another controller has taken the run over since then, the module writes nothing and the task fails with
        C(run_superseded).
    type: int
"""

    GUARD = r"""
options:
  guard:
    description:
      - The run or the lease that this controller holds. Immediately before each change, the module reads the journal or
        the leases. If another controller has taken over, the module changes nothing more and the task fails with
        C(run_superseded).
      - Without O(guard.run) and O(guard.lease) the module does not read the journal. The roles of this collection
        always pass this option. Reading the journal needs the Python library C(confluent-kafka).
    type: dict
    suboptions:
      clusters:
        description:
          - The clusters that hold the journal, by alias, each with C(bootstrap_servers), C(admin_client) and
            C(cluster_id). All of them must respond.
        type: dict
        default: {}
      pair:
        description: Name of the pair in the journal.
        type: str
      topic:
        description: Name of the journal topic.
        type: str
        default: kafka-dr-journal-internal
      state_topic:
        description: Name of the topic that holds the leases.
        type: str
        default: kafka-dr-state-internal
      run:
        description: Id of the run.
        type: str
      holder_generation:
        description: How often the run had been resumed when this playbook took it. Required with O(guard.run).
        type: int
      lease:
        description: Id of the lease.
        type: str
      after_end:
        description: Whether the run may have ended, as long as no other run has started.
        type: bool
        default: false
      any_side:
        description: Whether one cluster that responds is enough. This is so while a run is taken back.
        type: bool
        default: false
      token:
        description:
          - Fencing token with C(journal), C(epoch) and C(holder_generation).
            M(switchback.kafka_dr.client_control) stores it on the host of an application and compares it there. Other
            modules ignore it.
        type: dict
"""
