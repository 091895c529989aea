# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepare a folder as the HOME of ansible-test: `python sanity_home.py FOLDER`.

ansible-test builds virtual environments of its own and first downloads a pip bootstrap script from one fixed address.
A replacement that uses the pip shipped with Python makes this work with a mirror or a proxy too. ansible-test also
clears the environment of every PIP_* variable, so the settings of the caller's pip are passed on as a file.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import ansible_test

# ensurepip runs as a child: inside this process it would switch off pip's configuration files.
STAND_IN = """\
import subprocess, sys
subprocess.check_call([sys.executable, "-m", "ensurepip"])
options = [a for a in sys.argv[1:] if a not in ("--no-setuptools", "--no-wheel")]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *options]))
"""


def pip_wanted() -> str:
    """The pip version that the installed ansible-test bootstraps. It has no public interface for that."""
    source = Path(ansible_test.__file__).parent / "_internal/python_requirements.py"
    found = re.search(r"^\s+pip='([0-9.]+)',$", source.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit(f"ERROR: no line pip='<version>' in {source}: ansible-core has changed. Adapt pip_wanted().")
    return found.group(1)


def pip_settings(listing: str) -> str:
    """The lines of `pip config list` as a pip.conf; for a repeated key, the last one, which takes precedence.

    >>> print(pip_settings("global.timeout='5'\\n:env:.timeout='9'\\ninstall.no-deps='yes'"))
    [global]
    timeout = 9
    [install]
    no-deps = yes
    """
    sections: dict[str, dict[str, str]] = {}
    for line in listing.splitlines():
        place, value = line.split("=", maxsplit=1)
        section, key = place.rsplit(".", maxsplit=1)
        section = "global" if section == ":env:" else section
        # A value of several lines is continued by indentation.
        sections.setdefault(section, {})[key] = str(ast.literal_eval(value)).strip().replace("\n", "\n    ")
    lines = []
    for section, settings in sections.items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in settings.items())]
    return "\n".join(lines)


def write_private(path: Path, text: str) -> None:
    """Write a file that only the owner can read, because an index address may have a password."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def main(home: Path) -> None:
    bootstrap = home / ".ansible/test/cache" / f"get_pip_{pip_wanted().replace('.', '_')}.py"
    write_private(bootstrap, STAND_IN)
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], check=True, capture_output=True, text=True
    )
    write_private(home / ".config/pip/pip.conf", pip_settings(listing.stdout) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
