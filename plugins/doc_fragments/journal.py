# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that say where the journal and the state of a pair are. Private to this collection."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents what ``journal_options()`` of plugins/module_utils/_pair/options.py defines; ``journal.state`` its
    ``state_options()``, ``journal.turn`` its ``turn_options()``."""

    DOCUMENTATION = r"""
options:
  pair:
    description: Name of the pair in the journal; several pairs may share a journal topic.
    type: str
    required: true
  topic:
    description: Name of the journal topic. Its name keeps it out of MirrorMaker 2's flows.
    type: str
    default: kafka-dr-journal-internal
"""

    STATE = r"""
options:
  state_topic:
    description: Name of the topic with prepared positions, leases, drills and replays.
    type: str
    default: kafka-dr-state-internal
"""

    TURN = r"""
options:
  turn:
    description:
      - How often the run had been resumed when this playbook took it (C(state.run.resumed) of RV(ignore:state)).
      - If somebody has taken the run over since, the event is refused with C(run_superseded), and nothing is written.
    type: int
"""
