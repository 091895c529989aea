# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes that modules state about themselves. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """``attributes`` for every module; ``attributes.info_module`` adds the answers of reading modules."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status without changing anything.
  diff_mode:
    description: Returns details on what has changed (or would change in C(check_mode)) when in diff mode.
  idempotent:
    description: Running it again with the same options changes nothing, unless the cluster was changed meanwhile.
"""

    INFO_MODULE = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status without changing anything.
    support: full
    details:
      - It only reads, so check mode makes no difference.
  diff_mode:
    description: Returns details on what has changed (or would change in C(check_mode)) when in diff mode.
    support: N/A
    details:
      - It changes nothing.
  idempotent:
    description: Running it again with the same options changes nothing, unless the cluster was changed meanwhile.
    support: full
    details:
      - It changes nothing.
"""
