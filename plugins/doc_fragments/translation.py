# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a translation of positions."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of the modules that translate positions."""

    DOCUMENTATION = r"""
options:
  leave:
    description: Alias of the side being left. The groups' positions there are the truth.
    type: str
    required: true
  enter:
    description: Alias of the side being entered.
    type: str
    required: true
  group_lag:
    description: What to do with a group that has not read to the end.
    type: str
    choices: [refuse, checkpoint]
    default: refuse
  vouched:
    description:
      - The groups' own earlier positions on the original topics of O(enter), from the journal, as a dictionary from
        group to topic to partition to offset. Only these are trusted as an earlier position.
    type: dict
    default: {}
  settle:
    description: Seconds over which the positions on O(leave) must not move for a group to count as idle.
    type: float
    default: 1.0
"""
