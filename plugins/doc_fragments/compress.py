# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The option ``compress``. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents the option of ``compress_options()`` in plugins/module_utils/_module.py."""

    DOCUMENTATION = r"""
options:
  compress:
    description:
      - Whether the module returns rows of partitions as one compressed string. Every module of this collection accepts
        that string in place of the rows. With thousands of partitions, Ansible needs minutes for the rows themselves.
    type: bool
    default: false
    version_added: 1.0.0
"""
