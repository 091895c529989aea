# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that bound a wait. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents the options of ``wait_options()`` in plugins/module_utils/_module.py."""

    DOCUMENTATION = r"""
options:
  wait_timeout:
    description:
      - Seconds to wait. After that, the task fails and its message contains the last state.
    type: float
    default: 120.0
  wait_sleep:
    description:
      - Seconds between two checks.
    type: float
    default: 0.25
  stall_timeout:
    description:
      - Seconds without any progress after which the task fails, even before O(wait_timeout).
      - With V(0), only O(wait_timeout) applies.
    type: float
    default: 0.0
"""
