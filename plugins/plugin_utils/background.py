# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the items of a loop with ``delegate_to`` at the same time; the module ``client_results`` waits for them.

Ansible runs the items of a loop one after the other. Here each item forks, and the fork runs the module over the
connection that Ansible has set up for the item. The fork locks a file until it has ended, however it ends. A controller
that takes over a killed run waits for these forks, as for all workers of the killed one.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import traceback
from collections.abc import Callable, Mapping
from tempfile import mkstemp
from typing import Any

from ansible import constants
from ansible.errors import AnsibleConnectionFailure

__all__ = ["VARIABLE", "begin"]

#: The task variable that asks for it.
VARIABLE = "clients_in_background"


def begin(run: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Run in a fork. Returns at once, with the file that will hold the result."""
    number, path = mkstemp(prefix="client-", dir=constants.DEFAULT_LOCAL_TMP)
    fcntl.flock(number, fcntl.LOCK_EX)
    if os.fork() == 0:
        # A collection would copy the memory that the fork shares.
        gc.disable()
        try:
            os.write(number, json.dumps(_result(run), default=str).encode())
        finally:
            os._exit(0)
    os.close(number)
    return {"changed": False, "pending": path}


def _result(run: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    try:
        return dict(run())
    except AnsibleConnectionFailure as error:
        return {"unreachable": True, "msg": str(error)}
    except BaseException as error:
        return {"failed": True, "msg": f"{type(error).__name__}: {error}", "exception": traceback.format_exc()}
