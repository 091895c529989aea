# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The note of internal modules. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """``internal`` for every module whose short description ends with "(internal step)"."""

    DOCUMENTATION = r"""
options: {}
notes:
  - This module is internal to the roles of this collection. Its name, options and return values may change in any
    release.
"""
