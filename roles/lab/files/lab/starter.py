# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start missing parts, in parallel where possible, and wait until they respond."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import aiven, probes, processes, rights, secure, srm, zookeeper
from .configs import LOG4J2, MAINS, Cluster, Settings, jvm_options, kind, render, worker_group
from .errors import LabError
from .files import write_atomically
from .java import Java, java_arguments
from .layout import Layout
from .progress import Progress

#: Seconds until a start fails. An idle machine needs 15; many parallel starts on two cores have needed 60.
BOUND = 180.0


@dataclass
class Starter:
    """Starts parts, and records which ones it has started."""

    paths: Layout
    clusters: dict[str, Cluster]
    settings: Settings
    java: Java
    #: By Kafka version: the folder of jars, and a function from the name of a part to its class archive options.
    jars: Mapping[str, tuple[Path, Callable[[str], Sequence[str]]]]
    progress: Progress
    started: list[tuple[str, str]] = field(default_factory=list)

    def up(self, missing: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> None:
        """Start the missing parts and wait until all wanted ones respond. On a failure kill the started ones."""
        try:
            self._start_zookeepers([key for key in missing if key[1] == "zookeeper"])
            self._format([alias for alias in self.clusters if (alias, "broker") in missing])
            missing = [key for key in missing if key[1] != "zookeeper"]
            for some in self._stages(missing):
                for key in some:
                    self._spawn(*key)
                self._wait([key for key in wanted if key in some])
                self._grant(list(dict.fromkeys(alias for alias, name in some if kind(name) == "broker")))
            self._wait([key for key in wanted if key not in self.started])
        except BaseException:
            # Also on an interrupt by the user: no half-started process may stay.
            processes.kill([self.paths.part(*key) for key in self.started])
            raise

    def _stages(self, missing: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
        """Order of the start: all parts together, or workers last if they depend on running brokers.

        In a secured lab a worker exits without its ACLs, which only a running broker can store. With several brokers a
        worker exits if its internal topics cannot get a replica on each broker.
        """
        nodes = [key for key in missing if kind(key[1]) in ("broker", "controller")]
        if not nodes or (not self.settings.secure and self.settings.brokers == 1):
            return [missing]
        return [nodes, [key for key in missing if key not in nodes]]

    def _start_zookeepers(self, missing: list[tuple[str, str]]) -> None:
        """Start the ZooKeepers and wait until they respond. One with data of a broken start begins without it."""
        for alias, name in missing:
            cluster = self.clusters[alias]
            if not (cluster.folder / "cluster_id").exists():
                shutil.rmtree(cluster.data(name), ignore_errors=True)
            self._spawn(alias, name)
        self._wait(missing)

    def _grant(self, aliases: list[str]) -> None:
        security = self._security()
        if security is None:
            return
        for alias in aliases:
            other = next(name for name in self.clusters if name != alias)
            cluster = self.clusters[alias]
            workers = worker_group(cluster, self.settings)
            rights.grant(alias, other, workers, cluster.bootstrap_servers, security.client("admin"))

    def _security(self) -> secure.Security | None:
        return self.paths.security if self.settings.secure else None

    def _wait(self, wanted: list[tuple[str, str]]) -> None:
        since = time.monotonic()
        waiting = list(wanted)
        security = self._security()
        while waiting:
            for key in list(waiting):
                self._check_alive(key, since)
                if probes.is_ready(self.clusters[key[0]], key[1], security):
                    waiting.remove(key)
                    if key in self.started:
                        self.progress.say(f"{key[0]} {key[1]} ready after {time.monotonic() - since:.1f} s")
            time.sleep(0.1 if waiting else 0)

    def _spawn(self, alias: str, name: str) -> None:
        part, cluster = self.paths.part(alias, name), self.clusters[alias]
        self.started.append((alias, name))
        if name == "cm":
            write_atomically(part.config, srm.document(cluster, self.clusters, self.settings))
            srm.write_launcher(cluster)
            processes.spawn(part, srm.command(part.config))
            return
        if name == "aiven":
            write_atomically(part.config, aiven.document(cluster, self.clusters, self.settings))
            processes.spawn(part, aiven.command(part.config))
            return
        # A later line overrides an earlier one.
        more = part.config.with_suffix(".extra")
        write_atomically(
            part.config, render(cluster, name, self.settings) + (more.read_text() if more.exists() else "")
        )
        processes.spawn(part, self._command((alias, name), MAINS[kind(name)], str(part.config)))

    def _command(self, key: tuple[str, str], main: str, *arguments: str) -> list[str]:
        name, (folder, classes) = key[1], self.jars[self.settings.version(*key)]
        (self.paths.root / "tmp").mkdir(parents=True, exist_ok=True)
        write_atomically(self.paths.log4j2, LOG4J2)
        options = jvm_options(self.settings, self.paths.root, self.paths.log4j2, classes(name))
        if kind(name) == "connect" and self.settings.secure:
            options += secure.jvm_options(self.paths.security)
        return [self.java.program, *options, "-cp", f"{folder}/*", main, *arguments]

    def _check_alive(self, key: tuple[str, str], since: float) -> None:
        part = self.paths.part(*key)
        if processes.gone(part):
            raise LabError(f"{part.name} exited during its start. The end of {part.log}:\n{processes.tail(part.log)}")
        if time.monotonic() - since > BOUND:
            raise LabError(
                f"{part.name} runs but did not respond as expected within {BOUND:.0f} s. The end of {part.log}:\n"
                f"{processes.tail(part.log)}"
            )

    def _format(self, aliases: list[str]) -> None:
        """Format new data folders in parallel. The id file is written last; a folder without it is formatted again."""
        new = [self.clusters[alias] for alias in aliases if not (self.paths.root / alias / "cluster_id").exists()]
        for cluster in (cluster for cluster in new if self.settings.zookeeper(cluster.alias)):
            shutil.rmtree(cluster.data("broker"), ignore_errors=True)
            server = ("-server", f"127.0.0.1:{cluster.port('zookeeper')}")
            zookeeper.set_cluster_id(
                self._command((cluster.alias, "zookeeper"), zookeeper.SHELL, *server), cluster.cluster_id
            )
        nodes = [(cluster, part) for cluster in new for part in self._nodes(cluster)]
        running: list[subprocess.Popen[str]] = []
        try:
            running.extend(self._start_format(*node) for node in nodes)
            for (cluster, _part), process in zip(nodes, running, strict=True):
                self._finish_format(cluster, process)
        finally:
            for process in running:
                process.kill()
                process.communicate()
            for node in nodes:
                self._arguments(*node).unlink(missing_ok=True)
        for cluster in new:
            write_atomically(cluster.folder / "cluster_id", cluster.cluster_id + "\n")
        if new:
            self.progress.say(f"data folders of {' and '.join(cluster.alias for cluster in new)} formatted")

    def _nodes(self, cluster: Cluster) -> list[str]:
        """The parts of a cluster whose data folder must be formatted."""
        if self.settings.zookeeper(cluster.alias):
            return []
        return [part for part in self.settings.parts if kind(part) in ("broker", "controller")]

    def _start_format(self, cluster: Cluster, part: str) -> subprocess.Popen[str]:
        shutil.rmtree(cluster.data(part), ignore_errors=True)
        config = cluster.config_file(part)
        write_atomically(config, render(cluster, part, self.settings))
        arguments = ("format", "-t", cluster.cluster_id, "-c", str(config))
        command = self._command((cluster.alias, part), "kafka.tools.StorageTool", *arguments)
        if self.settings.secure:
            # The metadata log of the cluster holds the SCRAM credentials.
            cluster.folder.chmod(0o700)
            # The first users are in the first snapshot of the metadata log, which a controller reads.
            first = self.settings.brokers == 1 or part == "controller"
            command = self._hidden(
                cluster, part, [*command, *(secure.scram_options(self.paths.security) if first else [])]
            )
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def _hidden(self, cluster: Cluster, part: str, command: Sequence[str]) -> list[str]:
        """The same command with its arguments in a file, because all users of the machine can read command lines."""
        secure.write_private(self._arguments(cluster, part), java_arguments(command[1:]))
        return [command[0], f"@{self._arguments(cluster, part)}"]

    def _arguments(self, cluster: Cluster, part: str) -> Path:
        return self.paths.security.folder / f"format-{cluster.alias}-{part}"

    def _finish_format(self, cluster: Cluster, process: subprocess.Popen[str]) -> None:
        try:
            output, _errors = process.communicate(timeout=BOUND)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"Formatting the data folder of {cluster.alias} took over {BOUND:.0f} s.") from error
        if process.returncode != 0:
            # An error message of the tool may contain an option with a password.
            shown = output if not self.settings.secure else self.paths.security.masked(output)
            raise LabError(f"Formatting the data folder of {cluster.alias} failed:\n{shown.strip()[-2000:]}")
