# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that say which run a controller holds. Private to this collection."""

from __future__ import annotations


class ModuleDocFragment:
    """The options of ``generation_options()`` (``journal.holder_generation``) and ``guard_options()``."""

    HOLDER_GENERATION = r"""
options:
  holder_generation:
    description:
      - How often the run had been resumed when this playbook took it (C(state.run.resumed) of RV(ignore:state)).
      - If somebody has taken the run over since, the event is refused with C(run_superseded), and nothing is written.
    type: int
"""

    GUARD = r"""
options:
  guard:
    description:
      - What the controller of this task holds. Immediately before each change the journal or the leases are read, and
        if another controller has taken over, nothing more is changed and the task fails with C(run_superseded).
      - Without O(guard.run) and O(guard.lease) nothing is asked. The roles of this collection always pass it.
    type: dict
    suboptions:
      clusters:
        description:
          - The clusters that keep the journal, by alias, each with C(bootstrap_servers), C(admin_client) and
            C(cluster_id). All of them must answer.
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
        description: Name of the topic with the leases.
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
        description: Whether the run may have ended, as long as no other one has begun.
        type: bool
        default: false
      any_side:
        description: Whether one cluster that answers is enough, as while a run is taken back.
        type: bool
        default: false
      token:
        description:
          - What M(switchback.kafka_dr.client_control) leaves on the host of an application and compares there, with
            C(journal), C(epoch) and C(turn). Other modules ignore it.
        type: dict
"""
