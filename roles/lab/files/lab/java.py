# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a Java that can run Kafka 4."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError

OLDEST = 17
ADVICE = (
    f"Java {OLDEST} or 21 is needed. Install openjdk-17-jre-headless (Debian, Ubuntu) or java-17-openjdk-headless "
    "(Fedora, RHEL), or point JAVA_HOME to one."
)


@dataclass(frozen=True)
class Java:
    program: str
    version: str

    @property
    def fingerprint(self) -> str:
        """Unique to the build, because the class archives of one build do not fit another."""
        return hashlib.sha256(self.version.encode()).hexdigest()[:12]


def major_version(text: str) -> int | None:
    """The major version from the output of ``java -version``: 8 for "1.8.0". None if there is none."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def java_arguments(words: Sequence[str]) -> str:
    """Text of an argument file (``java @FILE``), with quotes and backslashes escaped for the Java launcher."""
    return "".join('"{}"\n'.format(word.replace("\\", "\\\\").replace('"', '\\"')) for word in words)


def find_java() -> Java:
    """Find a recent Java. JAVA_HOME takes precedence over PATH. Raises LabError if there is none."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not program or not os.access(program, os.X_OK):
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "PATH has no java"
        raise LabError(f"{where}. {ADVICE}")
    answer = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    said = answer.stderr + answer.stdout
    version = major_version(said)
    if version is None or version < OLDEST:
        raise LabError(f"{program} is Java {version or 'of an unknown version'}. {ADVICE}")
    return Java(program, said)
