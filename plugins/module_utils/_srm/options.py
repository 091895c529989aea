# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules that call srm-control. The documentation fragment ``srm`` describes them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from .._module import ArgumentSpec

__all__ = ["srm_options"]


def srm_options() -> ArgumentSpec:
    """Return the options that define how to call srm-control on the host that runs the task."""
    return ArgumentSpec(
        {
            "command": {"type": "list", "elements": "str", "default": ["srm-control"]},
            "config": {"type": "path"},
            "bootstrap_servers": {"type": "str"},
            # The name of an environment variable, not the secret itself.
            "secret_env": {"type": "str", "default": "SECURESTOREPASS", "no_log": False},
            "secret": {"type": "str", "no_log": True},
            "timeout": {"type": "float", "default": 60.0},
        }
    )
