# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Download jars with the Ivy inside PySpark, so that no build tool is needed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import time
from pathlib import Path

from .errors import LabError
from .progress import Progress

KAFKA = ("kafka_2.13", "kafka-tools", "connect-runtime", "connect-mirror", "connect-basic-auth-extension")
KAFKA_VERSION = "4.3.1"
# Kafka 4.3 ships slf4j-api 1.7. It ignores the binding for 2.x ("slf4j2-impl") and would log nothing.
LOG4J_VERSION = "2.25.4"
STALLED_AFTER = 120.0
MODULE = """<ivy-module version="2.0">
  <info organisation="switchback" module="kafka_dr_lab"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


def module_description(version: str = KAFKA_VERSION) -> str:
    artefacts = [("org.apache.kafka", name, version) for name in KAFKA]
    artefacts.append(("org.apache.logging.log4j", "log4j-slf4j-impl", LOG4J_VERSION))
    # "default->runtime,master": the jar and its runtime dependencies, without sources and optional parts.
    line = '    <dependency org="{}" name="{}" rev="{}" conf="default->runtime,master"/>'
    return MODULE.format(dependencies="\n".join(line.format(*artefact) for artefact in artefacts))


def ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = [jar for folder in folders for jar in sorted(Path(folder, "jars").glob("ivy-*.jar"))]
    if not found:
        raise LabError(
            "The Ivy inside PySpark downloads the jars, but this Python has no PySpark with jars. "
            "Use the Python of the virtual environment (make setup), or install pyspark==4.2.0."
        )
    return found[-1]


def command(java: str, work: Path) -> list[str]:
    pattern = "[artifact]-[revision](-[classifier]).[ext]"
    own = os.environ.get("KAFKA_DR_IVY_SETTINGS")
    return [
        *(java, "-jar", str(ivy_jar())),
        *(["-settings", own] if own else []),
        *("-ivy", str(work / "ivy.xml"), "-cache", str(work / "cache"), "-confs", "default"),
        *("-types", "jar", "bundle", "-retrieve", str(work / "lib" / pattern)),
    ]


def retrieve(work: Path, java: str, progress: Progress, expected: int | None, version: str = KAFKA_VERSION) -> Path:
    """Resolve and download to WORK/lab. Raises LabError with the cause from Ivy's log."""
    (work / "ivy.xml").write_text(module_description(version))
    log = work / "ivy.log"
    with log.open("w") as output:
        process = subprocess.Popen(command(java, work), stdout=output, stderr=subprocess.STDOUT)
        try:
            _watch(process, work, progress, expected)
        finally:
            process.kill()
            process.wait()
    if process.returncode != 0 or not any((work / "lib").glob("*.jar")):
        raise LabError(
            f"The Kafka jars could not be downloaded: {complaint(log.read_text(errors='replace'))}. Maven Central must "
            "be reachable over https once (proxy: JAVA_TOOL_OPTIONS=-Dhttps.proxyHost=... -Dhttps.proxyPort=..., "
            "own mirror: KAFKA_DR_IVY_SETTINGS=<ivysettings.xml>). Then run the same command again."
        )
    return work / "lib"


def _watch(process: subprocess.Popen[bytes], work: Path, progress: Progress, expected: int | None) -> None:
    """Report progress every 5 s. Raises LabError if no data arrives for ``STALLED_AFTER`` seconds."""
    said = moved = time.monotonic()
    before = 0
    while process.poll() is None:
        time.sleep(0.2)
        now = time.monotonic()
        seen = sum(1 for _file in (work / "cache").rglob("*.*"))
        if seen != before:
            before, moved = seen, now
        if now - moved > STALLED_AFTER:
            raise LabError(
                f"The download of the jars made no progress for {STALLED_AFTER:.0f} s. Run the same command again."
            )
        if now - said >= 5:
            jars = sum(1 for _jar in (work / "cache").rglob("*.jar"))
            of = f" of {expected}" if expected else ""
            progress.say(f"jars: {jars}{of} downloaded" if jars else f"jars: resolving, {seen} descriptions read")
            said = now


def complaint(log: str) -> str:
    """The line of Ivy's log with the cause of the failure."""
    causes = (r"unknown host.*", r"Server access error.*", r".*(?:Exception|timed out|refused).*", r".*not found.*")
    for cause in causes:
        found = re.search(cause, log, re.IGNORECASE)
        if found:
            return found.group(0).strip()[:200]
    return (log.strip().splitlines() or ["Ivy wrote no log"])[-1].strip()[:200]
