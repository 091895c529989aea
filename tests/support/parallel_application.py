# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An application with the real Parallel Consumer, which stores in the metadata what it has processed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp

from lab.files import locked
from lab.ivy import MODULE, command
from lab.jars import compare, default_cache, parse_checksums
from lab.progress import Progress

__all__ = ["parallel_application"]

_SOURCE = Path(__file__).with_name("ParallelApplication.java")
_CHECKSUMS = Path(__file__).with_name("parallel_consumer.sha256")
_VERSION = "0.5.3.3"
_LIBRARY = (
    '<dependency org="io.confluent.parallelconsumer" name="parallel-consumer-core"'
    f' rev="{_VERSION}" conf="default->runtime,master"/>'
)


@contextmanager
def parallel_application(
    servers: str, group: str, topic: str, unfinished: Collection[str] = ()
) -> Iterator[Callable[[], list[str]]]:
    """Run it, and yield what returns the values that it has processed so far. It never finishes some, and is killed."""
    values = ",".join(unfinished) or "none"
    java = ["java", "-Xmx128m", "-cp", f"{_jars()}/*", str(_SOURCE), servers, group, topic, values]
    with TemporaryFile() as output, subprocess.Popen(java, stdout=output, stderr=subprocess.DEVNULL) as process:
        try:
            # The process writes on where its own offset is.
            yield lambda: os.pread(output.fileno(), 1 << 20, 0).decode().split()
        finally:
            process.kill()


def _jars() -> Path:
    """The library with its dependencies, from Maven Central with the Ivy inside PySpark, once for each cache."""
    folder = default_cache() / f"parallel-consumer-{_VERSION}"
    wanted = parse_checksums(_CHECKSUMS.read_text())
    with locked(folder.with_name(f"{folder.name}.lock"), Progress(quiet=True)):
        if not folder.is_dir():
            work = Path(mkdtemp(prefix=f"{folder.name}.part-", dir=folder.parent))
            (work / "ivy.xml").write_text(MODULE.format(dependencies=_LIBRARY))
            subprocess.run(command("java", work), check=True, capture_output=True)
            (work / "lib").rename(folder)
    assert not (found := compare(folder, wanted)), f"{folder}: {found}"
    return folder
