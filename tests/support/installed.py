# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The release tarball, installed for a user without a checkout, and a log of the files that its code uses."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WATCH = ROOT / "tests" / "artifact" / "watch"
BIN = Path(sys.executable).parent
# What a user's shell may say about the machine. All else that the caller has set is left out.
MACHINE = ("JAVA_HOME", "KAFKA_DR_CACHE", "KAFKA_DR_IVY_SETTINGS", "TMPDIR")


@cache
def tarball() -> Path:
    """Build the tarball into build/dist. The folder ``copy`` beside it has the files that git tracks."""
    script = ROOT / "tests" / "support" / "artifact.sh"
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", str(script)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Path(done.stdout.strip())


def held() -> set[str]:
    """The files in the tarball."""
    with tarfile.open(tarball()) as archive:
        return {entry.name for entry in archive if not entry.isdir()}


def files(folder: Path) -> set[str]:
    """The files below a folder, by their relative paths."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def clean(home: Path, **more: str) -> dict[str, str]:
    """An environment without the caller's settings. ``home`` has only the files that the tools create."""
    return {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", **more}


@dataclass(frozen=True)
class Site:
    """A user's folders below ``folder``, and the programs of this virtual environment.

    Each Python process that starts here logs the files that it uses from the checkout and from the installation.
    """

    folder: Path

    def __post_init__(self) -> None:
        for path in (self.folder / "home", self.work):
            path.mkdir(parents=True)

    @property
    def work(self) -> Path:
        """Where the user works, outside of the collection."""
        return self.folder / "work"

    @property
    def collection(self) -> Path:
        return self.folder / "collections" / "ansible_collections" / "switchback" / "kafka_dr"

    @property
    def log(self) -> Path:
        return self.folder / "used.txt"

    @property
    def environment(self) -> dict[str, str]:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "switchback.kafka_dr"
        machine = {"KAFKA_DR_CACHE": str(cache)} | {name: os.environ[name] for name in MACHINE if name in os.environ}
        return clean(
            self.folder / "home",
            **machine,
            ANSIBLE_COLLECTIONS_PATH=str(self.folder / "collections"),
            PYTHONPATH=str(WATCH),
            KAFKA_DR_WATCHED=os.pathsep.join([str(ROOT), str(self.folder / "collections")]),
            KAFKA_DR_WATCH_LOG=str(self.log),
        )

    def run(self, script: str, cwd: Path | None = None, seconds: int = 600) -> str:
        """Run a script in a shell that stops at the first failing command and names it. Return its output."""
        command = ["bash", "-eu", "-o", "pipefail", "-c", f"trap 'echo failed: $BASH_COMMAND' ERR\n{script}"]
        try:
            done = subprocess.run(
                command,
                cwd=cwd or self.work,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as expired:
            shown = (expired.stdout or b"").decode(errors="replace")
            raise AssertionError(f"Not done within {seconds} s. Its last output:\n{shown[-6000:]}") from None
        assert done.returncode == 0, f"{script}\n{done.stdout[-6000:]}"
        return done.stdout

    def install(self) -> None:
        """Install the tarball."""
        self.run(f"ansible-galaxy collection install {tarball()}")
        self.log.unlink()

    def virtual_environment(self, checkout: Path) -> None:
        """Let tests/support/venv.sh find everything installed in a copy of the checkout."""
        own = checkout / ".venv"
        own.mkdir()
        for part in Path(sys.prefix).iterdir():
            if not part.name.startswith("."):
                (own / part.name).symlink_to(part)
        (own / ".made-in").write_text(f"{checkout}\n")
        stamp = 'printf "%s %s\\n" "$(cksum <requirements.txt)" "$PWD" > .venv/.installed-requirements.txt'
        self.run(stamp, cwd=checkout)

    @property
    def used(self) -> tuple[set[str], set[str]]:
        """The files used from the installation, by their relative paths, and the paths used from the checkout.

        The tools that are in the checkout do not count.
        """
        paths = self.log.read_text().splitlines()
        tools = (f"{Path(sys.prefix)}/", f"{WATCH}")
        own = (Path(path).resolve() for path in paths if path.startswith(str(self.collection)))
        return (
            {path.relative_to(self.collection).as_posix() for path in own if path.is_relative_to(self.collection)},
            {path for path in paths if path.startswith(str(ROOT)) and not path.startswith(tools)},
        )
