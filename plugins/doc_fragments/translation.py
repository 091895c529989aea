# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that accept inexact offsets. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents the options of ``acceptance_options()`` in plugins/module_utils/_pair/options.py."""

    DOCUMENTATION = r"""
options:
  group_lag:
    description:
      - What to do with an offset that is not proven to be exact. V(refuse) fails and names the offset. V(reread) takes
        the highest offset that skips no record, and returns an upper bound of the records that the group reads again.
    type: str
    choices: [refuse, reread]
    default: refuse
  accept_skips:
    description:
      - Groups that may move although retention, a deletion or compaction has removed records that they have not read
        from the topics of the cluster being entered. If a group that is not listed here has lost or may have lost such
        records, the task fails with RV(ignore:error.code) C(records_gone). O(group_lag=reread) does not accept it.
      - A listed group never processes those records. RV(ignore:skips) holds their number.
    type: list
    elements: str
    default: []
"""
