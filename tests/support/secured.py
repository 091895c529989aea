# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A secured lab whose start is watched: whatever stood in a process list meanwhile is kept."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lab import processes
from lab.lab import Lab
from lab.secure import REST_USER, USERS

ROOT = Path(__file__).resolve().parents[2]
# Of Ansible, or the collection's own.
MASKED = re.compile(r'password\\*": \\*"(VALUE_SPECIFIED_IN_NO_LOG_PARAMETER|\*{8})')


@dataclass(frozen=True)
class Start:
    """What the program said while it started a lab, and the command lines of the machine while it did."""

    lab: Lab
    seconds: float
    output: str
    command_lines: frozenset[str]


def start(folder: Path, *options: str) -> Start:
    """``lab up``; fails with what the program said."""
    command = [sys.executable, str(ROOT / "roles" / "lab" / "files" / "lab"), "up", "--dir", str(folder), *options]
    seen: set[str] = set()
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None:
            seen.update(command_lines())
            time.sleep(0.05)
        output = "".join(running.communicate())
    assert running.returncode == 0, output
    return Start(Lab(folder, quiet=True), time.monotonic() - began, output, frozenset(seen))


def command_lines() -> set[str]:
    """As everybody on this machine may read them."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {" ".join(processes.arguments_of(pid)) for pid in pids}


def leaks(lab: Lab, texts: Iterable[str]) -> list[str]:
    """The beginnings of texts that hold a password, as it is or in a form that anybody can read back."""
    words = spelt(lab)
    return [text[:200] for text in texts if any(word in text for word in words)]


def leaking_files(lab: Lab) -> list[str]:
    """Files below the lab that hold a password, without the two that are made for them."""
    own = (lab.paths.security.passwords, lab.paths.security.rest_passwords)
    words = [word.encode() for word in spelt(lab)]
    found = (path for path in lab.paths.root.rglob("*") if path.is_file() and path not in own)
    return [str(path) for path in found if any(word in path.read_bytes() for word in words)]


def spelt(lab: Lab) -> set[str]:
    """Every password of the lab, plain and as logins, addresses and JSON carry it."""
    security = lab.paths.security
    plain = set(security.secrets())
    # Basic authentication names the user first, which changes every sign behind it.
    logins = {f"{user}:{security.password(user)}" for user in (*USERS, REST_USER)}
    found = {form for word in plain for form in (word, quote(word, safe=""), json.dumps(word)[1:-1])}
    # Whatever follows changes what the last group of three bytes becomes, so it is left out.
    return found | {base64.b64encode(text.encode()[: len(text) // 3 * 3]).decode() for text in plain | logins}


def masked(texts: Iterable[str]) -> list[str]:
    """Texts in which an option that carries a password is seen, and something else stands in its place."""
    return [text for text in texts if MASKED.search(text)]
