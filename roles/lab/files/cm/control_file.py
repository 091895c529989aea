# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches of srm-control, in a file beside the deployed client configuration: the tool never calls the emulator."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from lab.files import to_json, write_atomically

from .site import Manager


def write_control(manager: Manager) -> None:
    with manager.store.lock:
        text = to_json({**dataclasses.asdict(manager.store.state.switches.control)})
    for site in manager.sites:
        if site.home:
            write_atomically(Path(site.home) / "switches.json", text)
