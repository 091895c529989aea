# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that accept inexact offsets."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents what ``acceptance_options()`` of plugins/module_utils/_pair/options.py defines."""

    DOCUMENTATION = r"""
options:
  group_lag:
    description:
      - What to do with an offset that is not proven to be exact. V(refuse) fails and names it. V(reread) takes the
        highest offset that skips nothing and counts the records that are read again as an upper bound.
    type: str
    choices: [refuse, reread]
    default: refuse
  accept_skips:
    description:
      - Groups that may move although retention, a deletion or compaction has removed records that they have not read
        from the topics of the cluster being entered. Without this, a group that lost or may have lost such records
        fails with RV(ignore:error.code) C(records_gone). O(group_lag=reread) does not accept it.
      - The group never processes those records. The number is RV(ignore:skips).
    type: list
    elements: str
    default: []
"""
