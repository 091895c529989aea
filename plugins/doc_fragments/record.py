# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a step of a run. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """For every module that the role ``cutover`` calls as a step."""

    DOCUMENTATION = r"""
options:
  record:
    description:
      - Folder of a run's record on the controller. The module appends its result there, without secrets.
      - The roles of this collection set it.
    type: path
  step:
    description: Name of the step in O(record).
    type: str
"""
