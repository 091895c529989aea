# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A secured lab whose start is observed: the process lists of that time are kept."""

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
# Masks of Ansible, or of the collection.
MASKED = re.compile(r'password\\*": \\*"(VALUE_SPECIFIED_IN_NO_LOG_PARAMETER|\*{8})')


@dataclass(frozen=True)
class Start:
    """The output of the program that started a lab, and the machine's command lines during that time."""

    lab: Lab
    seconds: float
    output: str
    command_lines: frozenset[str]


def start(folder: Path, *options: str) -> Start:
    """Run ``lab up``. Raise an error with the output if it fails."""
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
    """The command lines that every user of this machine can read."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {" ".join(processes.arguments_of(pid)) for pid in pids}


def leaks(lab: Lab, texts: Iterable[str]) -> list[str]:
    """The beginnings of texts that have a password, in plain or in a readable encoding."""
    words = spelt(lab)
    return [text[:200] for text in texts if any(word in text for word in words)]


def leaking_files(lab: Lab) -> list[str]:
    """The files below the lab that have a password, except the two files that exist for passwords."""
    own = (lab.paths.security.passwords, lab.paths.security.rest_passwords)
    words = [word.encode() for word in spelt(lab)]
    found = (path for path in lab.paths.root.rglob("*") if path.is_file() and path not in own)
    return [str(path) for path in found if any(word in path.read_bytes() for word in words)]


def spelt(lab: Lab) -> set[str]:
    """Every password of the lab, in plain and in the forms of logins, addresses and JSON."""
    security = lab.paths.security
    plain = set(security.secrets())
    # Basic authentication encodes the user first, which changes every character after it.
    logins = {f"{user}:{security.password(user)}" for user in (*USERS, REST_USER)}
    found = {form for word in plain for form in (word, quote(word, safe=""), json.dumps(word)[1:-1])}
    # The following text changes the last group of three bytes, so that group is left out.
    return found | {base64.b64encode(text.encode()[: len(text) // 3 * 3]).decode() for text in plain | logins}


def masked(texts: Iterable[str]) -> list[str]:
    """Texts that have an option for a password with a mask in place of its value."""
    return [text for text in texts if MASKED.search(text)]
