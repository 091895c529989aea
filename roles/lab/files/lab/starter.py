# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing missing parts up: all that can start starts at once, and readiness is what the parts answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import probes, processes
from .configs import LOG4J2, MAINS, Cluster, Settings, jvm_options, render
from .errors import LabError
from .files import write_atomically
from .layout import Layout
from .progress import Progress

BOUND = 90.0


@dataclass
class Starter:
    """What is needed to start any part, and which parts this run has started."""

    paths: Layout
    clusters: dict[str, Cluster]
    settings: Settings
    java: str
    jars: Path
    progress: Progress
    started: list[tuple[str, str]] = field(default_factory=list)

    def up(self, missing: list[tuple[str, str]]) -> None:
        """Start the missing parts and wait until every one answers; on any failure end those it started."""
        try:
            self._format([alias for alias, name in missing if name == "broker"])
            self._start_and_wait(missing)
        except BaseException:
            # Interrupted by the user counts too: nothing half-started may stay.
            processes.kill([self.paths.part(*key) for key in self.started])
            raise

    def _start_and_wait(self, missing: list[tuple[str, str]]) -> None:
        waiting = {key: time.monotonic() for key in missing}
        for key in missing:
            self._spawn(*key)
        while waiting:
            for key in list(waiting):
                self._check_alive(key, waiting[key])
                if probes.READY[key[1]](self.clusters[key[0]]):
                    self.progress.say(f"{key[0]} {key[1]} ready after {time.monotonic() - waiting.pop(key):.1f} s")
            time.sleep(0.1)

    def _spawn(self, alias: str, name: str) -> None:
        part, cluster = self.paths.part(alias, name), self.clusters[alias]
        write_atomically(part.config, render(cluster, name, self.settings))
        self.started.append((alias, name))
        processes.spawn(part, self._command(MAINS[name], str(part.config)))

    def _command(self, main: str, *arguments: str) -> list[str]:
        (self.paths.root / "tmp").mkdir(parents=True, exist_ok=True)
        write_atomically(self.paths.log4j2, LOG4J2)
        options = jvm_options(self.settings, self.paths.root, self.paths.log4j2)
        return [self.java, *options, "-cp", f"{self.jars}/*", main, *arguments]

    def _check_alive(self, key: tuple[str, str], since: float) -> None:
        part = self.paths.part(*key)
        if processes.gone(part):
            raise LabError(f"{part.name} ended while starting. The end of {part.log}:\n{processes.tail(part.log)}")
        if time.monotonic() - since > BOUND:
            raise LabError(
                f"{part.name} runs but gave no right answer within {BOUND:.0f} s. The end of {part.log}:\n"
                f"{processes.tail(part.log)}"
            )

    def _format(self, aliases: list[str]) -> None:
        """Prepare new data folders, both at once. The id file is written last: without it the folder starts over."""
        new = [self.clusters[alias] for alias in aliases if not (self.paths.root / alias / "cluster_id").exists()]
        running = []
        for cluster in new:
            shutil.rmtree(cluster.folder / "data", ignore_errors=True)
            config = cluster.config_file("broker")
            write_atomically(config, render(cluster, "broker", self.settings))
            command = self._command("kafka.tools.StorageTool", "format", "-t", cluster.cluster_id, "-c", str(config))
            running.append(
                subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ)
            )
        for cluster, process in zip(new, running, strict=True):
            output, _ = process.communicate(timeout=BOUND)
            if process.returncode != 0:
                raise LabError(f"Formatting the data folder of {cluster.alias} failed:\n{output.strip()[-2000:]}")
            write_atomically(cluster.folder / "cluster_id", cluster.cluster_id + "\n")
        if new:
            self.progress.say(f"data folders of {' and '.join(cluster.alias for cluster in new)} formatted")
