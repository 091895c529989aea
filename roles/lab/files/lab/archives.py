# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Class archives: a JVM that maps loaded classes from a file starts with 40 % less processor time and memory.

The archives are created once for each build of Java, by starting and stopping one cluster, and are stored beside the
jars. They only save time: if an archive cannot be created or does not match, the JVM loads its classes from the jars.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from . import processes
from .configs import PARTS, Cluster, Settings, kind
from .errors import LabError
from .files import locked
from .ivy import KAFKA_VERSION
from .java import Java
from .layout import layout, new_cluster_id
from .ports import choose
from .progress import Progress
from .starter import Starter

#: A JVM needs about 8 s to write an archive when it exits, more on a busy machine.
WRITE_SECONDS = 120.0


def archive(jars: Path, java: Java, name: str) -> Path:
    """Path of the archive of a part. Controllers and StorageTool use the archive of the broker."""
    return jars / f"classes-{java.fingerprint}-{'connect' if kind(name) == 'connect' else 'broker'}.jsa"


def ensure(
    jars: Path, java: Java, settings: Settings, progress: Progress, version: str = KAFKA_VERSION
) -> Callable[[str], Sequence[str]]:
    """Create missing archives. Return a function from the name of a part to the JVM options for its archive."""
    tried = jars / f"classes-{java.fingerprint}.tried"
    with locked(jars / "classes.lock", progress):
        if not tried.exists():
            progress.say("class archives: creating them once for this Java, to start faster")
            versions = {"P": version}
            one = dataclasses.replace(
                settings, kafka_versions=versions, connect_versions=versions, brokers=1, workers=1
            )
            _make(jars, java, one, progress)
            tried.touch()
    return lambda name: _use(archive(jars, java, name))


def _use(path: Path) -> list[str]:
    # The JVM ignores an archive that does not match. "cds=off" hides its warning.
    return [f"-XX:SharedArchiveFile={path}", "-Xlog:cds=off"] if path.exists() else []


def _make(jars: Path, java: Java, settings: Settings, progress: Progress) -> None:
    with tempfile.TemporaryDirectory(prefix="kafka-dr-classes-") as folder:
        paths = layout(folder)
        cluster = Cluster("P", paths.root / "P", new_cluster_id(), *choose(paths.root, 3))
        own = {settings.version("P", "broker"): (jars, lambda name: _record(paths.root, name))}
        starter = Starter(paths, {"P": cluster}, settings, java, own, progress)
        keys = [("P", name) for name in settings.parts_of("P")]
        parts = [paths.part(*key) for key in reversed(keys)]
        try:
            starter.up(keys, keys)
            progress.say("class archives: writing")
            if [part for part in parts if processes.stop([part], WRITE_SECONDS)]:
                raise LabError(f"a JVM did not write its archive within {WRITE_SECONDS:.0f} s")
            for name in PARTS:
                _keep(paths.root / f"{name}.jsa", archive(jars, java, name))
        except (LabError, OSError) as error:
            progress.say(f"class archives: not created, the lab runs without them ({error})")
        finally:
            processes.kill(parts)


def _record(root: Path, name: str) -> list[str]:
    return (
        []
        if name in ("format", "zookeeper")
        else [f"-XX:ArchiveClassesAtExit={root / name}.jsa", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
    )


def _keep(made: Path, target: Path) -> None:
    """Copy the archive in two steps, because the folders may be on different file systems. The second one is atomic."""
    part = target.with_suffix(".part")
    part.write_bytes(made.read_bytes())
    part.replace(target)
