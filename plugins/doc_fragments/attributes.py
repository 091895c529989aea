# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of modules: check mode, diff mode, idempotence. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """``attributes`` for every module; ``attributes.info_module`` adds the support of modules that only read."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status without changing anything.
  diff_mode:
    description: Returns details on what has changed (or would change in C(check_mode)) when in diff mode.
  idempotent:
    description: A second run with the same options changes nothing, unless the cluster has changed in between.
"""

    INFO_MODULE = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status without changing anything.
    support: full
    details:
      - This module only reads. Check mode makes no difference.
  diff_mode:
    description: Returns details on what has changed (or would change in C(check_mode)) when in diff mode.
    support: N/A
    details:
      - This module changes nothing.
  idempotent:
    description: A second run with the same options changes nothing, unless the cluster has changed in between.
    support: full
    details:
      - This module changes nothing.
"""
