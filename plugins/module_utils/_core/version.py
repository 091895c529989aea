# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's version. Modules cannot read galaxy.yml: an installed collection does not have it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "1.0.0"
