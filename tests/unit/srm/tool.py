# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that replace srm-control: one prints a given text, one keeps lists and can misbehave."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["ListTool", "program"]

# Keeps {"<subcommand> <source> <target>": {"allowed": [...], "denied": [...]}}; "unknown": how often a name is refused;
# "deaf": how many accepted changes have no effect; "cut": how many lists are truncated; "no_list": subcommands that
# refuse --list.
_KEEPER = """
import fcntl, json, sys
from pathlib import Path
file = Path(sys.argv[0] + ".json")
# Several lists are worked on at the same time: one call at a time may read and write.
turn = open(sys.argv[0] + ".lock", "w")
fcntl.flock(turn, fcntl.LOCK_EX)
state = json.loads(file.read_text())
words = sys.argv[1:]
option = lambda name: words[words.index(name) + 1]
key = " ".join((words[0], option("--source"), option("--target")))
lists = state["lists"].setdefault(key, {"allowed": [], "denied": []})
state["calls"].append(words)
code, said = 0, []
if words[0] not in state["subcommands"]:
    code, said = 2, ["usage: srm-control [-h]", f"srm-control: error: invalid choice: '{words[0]}'"]
elif "--list" in words and words[0] in state["no_list"]:
    code, said = 2, ["usage: srm-control [-h]", "srm-control: error: unrecognized arguments: --list"]
elif "--list" in words:
    print("10:00:00,000 INFO reading", "Current whitelist:", *lists["allowed"], sep="\\n")
    print("Current blacklist:", *lists["denied"], sep="\\n")
    if state["cut"]:
        state["cut"] -= 1
    else:
        print("Done.")
else:
    flags = {"--add": ("allowed", 1), "--remove": ("allowed", 0), "--add-blacklist": ("denied", 1),
             "--remove-blacklist": ("denied", 0)}
    flag = next(flag for flag in flags if flag in words)
    half, adds = flags[flag]
    names = option(flag).split(",")
    refused = [name for name in names if state["unknown"].get(name)]
    if refused:
        state["unknown"] = {name: times - (name in names) for name, times in state["unknown"].items()}
        code, said = 1, [f"IllegalArgumentException: unknown topics {refused}", "\\tat Main.main(Main.java:1)"]
    elif state["deaf"]:
        state["deaf"] -= 1
    else:
        kept = [name for name in lists[half] if name not in names]
        lists[half] = kept + names if adds else kept
file.write_text(json.dumps(state))
print(*said, sep="\\n", file=sys.stderr)
sys.exit(code)
"""


def program(path: Path, text: str) -> Path:
    """An executable Python program that starts quickly."""
    path.write_text(f"#!{sys.executable} -IS\n{text}")
    path.chmod(0o755)
    return path


class ListTool:
    """A tool that keeps lists in a file beside it."""

    def __init__(self, folder: Path, **behaviour: Any) -> None:
        self.path = program(folder / "srm-control", _KEEPER)
        self._file = folder / "srm-control.json"
        default = {"lists": {}, "unknown": {}, "deaf": 0, "cut": 0, "no_list": [], "calls": []}
        known = ["topics", "groups", "reverse-checkpointed-topics"]
        self.set(**{**default, "subcommands": known, **behaviour})

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._file.read_text())
        return found

    def set(self, **values: Any) -> None:
        """Change its lists or its behaviour."""
        before = self.state if self._file.exists() else {}
        self._file.write_text(json.dumps({**before, **values}))

    @property
    def calls(self) -> list[str]:
        """The calls it received, such as ``--list`` or ``--add a,b``, without repetitions."""
        calls = [" ".join(words[5:]) for words in self.state["calls"]]
        self.set(calls=[])
        return calls
