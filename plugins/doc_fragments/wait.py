# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that bound a wait. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents what ``wait_options()`` of plugins/module_utils/_module.py defines."""

    DOCUMENTATION = r"""
options:
  wait_timeout:
    description:
      - Seconds after which waiting ends with an error that shows the state last seen.
    type: float
    default: 120.0
  wait_sleep:
    description:
      - Seconds between two looks.
    type: float
    default: 0.25
  stall_timeout:
    description:
      - Seconds without any progress after which waiting ends with an error, also before O(wait_timeout).
      - With V(0) only O(wait_timeout) counts.
    type: float
    default: 0.0
"""
