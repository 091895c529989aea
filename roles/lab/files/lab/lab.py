# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole lab: two clusters, P and B, with brokers and Connect workers, in one folder."""

from __future__ import annotations

import dataclasses
import shutil
import signal
from pathlib import Path
from typing import Any

from . import archives, jars, java, layout, ports, probes, processes, secure, topics
from .configs import ALIASES, EMULATED, EVERY_PART, MOST_BROKERS, MOST_WORKERS, Cluster, Settings, kind, number
from .errors import LabError
from .files import locked, to_json, write_atomically
from .progress import Progress
from .starter import Starter

Key = tuple[str, str]
#: Seconds until a part is killed. Connect needs seconds to stop; a worker without its broker would try for longer.
STOP_SECONDS = {"aiven": 5.0, "cm": 5.0, "connect": 10.0, "broker": 15.0, "controller": 15.0, "zookeeper": 5.0}
#: A restarted broker is in sync within seconds, on a busy machine within a minute.
IN_SYNC_SECONDS = 120.0


class Lab:
    """Starts, stops and inspects a lab. You can call each method at any time; it returns what it changed."""

    def __init__(
        self,
        folder: Path | str,
        cache: Path | str | None = None,
        heap_mb: int | None = None,
        exactly_once: str | None = None,
        engine: str | None = None,
        srm_refresh_seconds: int | None = None,
        secure: bool | None = None,
        quiet: bool = False,
        brokers: int | None = None,
        workers: int | None = None,
        kafka_versions: dict[str, str] | None = None,
        connect_versions: dict[str, str] | None = None,
    ) -> None:
        self.paths = layout.layout(folder)
        self._cache = Path(cache).expanduser().absolute() if cache else jars.default_cache()
        self._chosen: dict[str, Any] = {
            "heap_mb": heap_mb,
            "exactly_once": exactly_once,
            "engine": engine,
            "srm_refresh_seconds": srm_refresh_seconds,
            "secure": secure,
            "brokers": brokers,
            "workers": workers,
            "kafka_versions": kafka_versions,
            "connect_versions": connect_versions,
        }
        self._progress = Progress(quiet)
        self._parts = self.paths.parts()

    # ---- the whole lab --------------------------------------------------------------------------------------

    def up(self, fresh: bool = False) -> list[str]:
        """Start the parts that do not run. Returns their names."""
        if fresh:
            self.down(wipe=True)
        self.paths.root.mkdir(parents=True, exist_ok=True)
        with locked(self.paths.lock_file, self._progress):
            self._refuse_other_security(self._settings())
            self._refuse_other_size(self._settings())
            self._refuse_other_metadata(self._settings())
            missing = self.missing()
            if not missing:
                self._progress.say(f"the lab in {self.paths.root} already runs: nothing to start")
            return self._start(missing, self.wanted())

    def down(self, wipe: bool = False) -> list[str]:
        """Stop the running parts, Connect first. Returns their names."""
        if not self._running() and not any(path.exists() for path in self.paths.data):
            return []
        with locked(self.paths.lock_file, self._progress):
            stopped = [
                name for part in reversed(EVERY_PART) for name in self._stop([(alias, part) for alias in ALIASES])
            ]
            self._remember()
            if wipe:
                self._wipe()
        return stopped

    def wanted(self) -> list[Key]:
        """Keys of all parts of this lab."""
        return [(alias, part) for alias in ALIASES for part in self._settings().parts_of(alias)]

    def missing(self) -> list[Key]:
        running = self._running()
        return [key for key in self.wanted() if key not in running]

    def info(self) -> dict[str, Any]:
        """The content of lab.json with current pids. Raises LabError if there is no lab."""
        state = layout.load_state(self.paths)
        clusters = layout.clusters_of(self.paths, state)
        if not clusters:
            raise LabError(f"There is no lab in {self.paths.root}. Start one: python roles/lab/files/lab up --dir ...")
        return layout.state_document(self.paths, clusters, layout.stored_settings(state), self._pids())

    def client(self, user: str = "admin") -> dict[str, str]:
        """librdkafka properties to connect as a user. Empty for a lab that is not secured."""
        return self.paths.security.client(user) if self._settings().secure else {}

    def connect_client(self) -> dict[str, str]:
        """The modules' option ``connect_client`` for both workers. Empty for a lab that is not secured."""
        return self.paths.security.rest_client() if self._settings().secure else {}

    def status(self) -> dict[str, Any]:
        """``info()`` with the state and the memory of each part. Also works for a folder without a lab."""
        known = bool(layout.clusters_of(self.paths, layout.load_state(self.paths)))
        found: dict[str, Any] = self.info() if known else {"dir": str(self.paths.root), "clusters": {}}
        parts = {key: self._part_status(self._parts[key]) for key in self.wanted()}
        found["parts"] = {f"{alias} {name}": parts[alias, name] for alias, name in parts}
        found["running"] = all(part["state"] == "running" for part in parts.values())
        sizes = [part["rss_mib"] for part in parts.values() if part["rss_mib"] is not None]
        found["rss_mib"] = round(sum(sizes), 1) if sizes else None
        return found

    # ---- one part, for chaos tests --------------------------------------------------------------------------

    def start(self, alias: str, part: str) -> bool:
        with locked(self.paths.lock_file, self._progress):
            wanted = self._key(alias, part)
            return bool(self._start([key for key in self.missing() if key == wanted], [wanted]))

    def stop(self, alias: str, part: str) -> bool:
        with locked(self.paths.lock_file, self._progress):
            stopped = self._stop([self._key(alias, part)])
            self._remember()
        return bool(stopped)

    def kill(self, alias: str, part: str) -> bool:
        """Send SIGKILL and wait until the process is gone."""
        target = self._parts[self._key(alias, part)]
        there = processes.pid_of(target) is not None
        processes.kill([target])
        self._remember()
        return there

    def replace(self, alias: str) -> None:
        """Replace a cluster by an empty one with another id at the same addresses, as after the loss of all disks."""
        with locked(self.paths.lock_file, self._progress):
            keys = [(alias, part) for part in reversed(self._settings().parts_of(alias))]
            self._stop(keys)
            clusters = layout.clusters_of(self.paths, layout.load_state(self.paths))
            shutil.rmtree(clusters[alias].folder)
            clusters[alias] = dataclasses.replace(clusters[alias], cluster_id=layout.new_cluster_id())
            self._remember(clusters)
            self._start(keys, keys)

    def restart(self, alias: str, part: str) -> bool:
        """Stop a part and start it again, as a rolling upgrade does."""
        stopped = self.stop(alias, part)
        return self.start(alias, part) or stopped

    def roll(self, alias: str) -> list[str]:
        """Restart the brokers of a cluster one by one, each after the replicas of the previous one are in sync."""
        brokers = [part for part in self._settings().parts if kind(part) == "broker"]
        for part in brokers:
            self.restart(alias, part)
            self.wait_in_sync(alias)
        return [self._parts[alias, part].name for part in brokers]

    def wait_in_sync(self, alias: str) -> None:
        """Wait until all replicas of each partition are in sync. Raises LabError after ``IN_SYNC_SECONDS``."""
        cluster, security = self._reached(alias)
        found: list[list[str] | None] = []

        def in_sync() -> bool:
            found[:] = [probes.out_of_sync(cluster, security)]
            return found[0] == []

        if not processes.wait_until(in_sync, IN_SYNC_SECONDS, 0.2):
            left = "no broker responds" if found[0] is None else ", ".join(found[0][:5])
            raise LabError(f"{alias} has partitions out of sync after {IN_SYNC_SECONDS:.0f} s: {left}.")

    def lead(self, alias: str, part: str) -> list[str]:
        """Make a broker the preferred leader of all its partitions, and elect it. Returns those that it leads now.

        Kafka's own tool reorders the replicas, so this takes a second or two.
        """
        cluster, security = self._reached(alias)
        if security is not None:
            raise LabError("A secured lab cannot move leaders: Kafka's tool has no user. `elect` works there.")
        wanted = topics.with_leader(topics.replicas(cluster, security), number(self._key(alias, part)[1]))
        if not wanted:
            return []
        version = self._settings().version(alias, part)
        program = java.find_java()
        folder = jars.ensure_jars(self._cache, program, self._progress, version)[0]
        topics.reassign(cluster, program.program, folder, wanted)
        return topics.elect(cluster, security, wanted)

    def elect(self, alias: str) -> list[str]:
        """Elect the preferred leader of every partition. Returns those with a new leader."""
        return topics.elect(*self._reached(alias))

    def configure(self, alias: str, topic: str, settings: dict[str, str]) -> None:
        """Set settings of a topic. An empty value removes the topic's own value."""
        topics.configure(*self._reached(alias), topic, settings)

    def leader(self, alias: str, topic: str, index: int) -> str:
        """The broker that leads a partition."""
        cluster, security = self._reached(alias)
        return topics.leader(cluster, security, topic, index)

    def pause(self, alias: str, part: str) -> bool:
        """Send SIGSTOP: the process keeps its connections and does not respond."""
        return self._signal(alias, part, signal.SIGSTOP, "paused")

    def resume(self, alias: str, part: str) -> bool:
        return self._signal(alias, part, signal.SIGCONT, "running")

    # ---- inside ---------------------------------------------------------------------------------------------

    def _reached(self, alias: str) -> tuple[Cluster, secure.Security | None]:
        """A cluster, and the passwords of its users if the lab is secured."""
        cluster = layout.clusters_of(self.paths, layout.load_state(self.paths))[alias]
        return cluster, self.paths.security if self._settings().secure else None

    def _running(self) -> list[Key]:
        for part in self._parts.values():
            processes.adopt_strays(part)
        return [key for key, part in self._parts.items() if processes.pid_of(part) is not None]

    def _start(self, missing: list[Key], wanted: list[Key]) -> list[str]:
        """Start the missing parts and wait until all wanted ones respond, including those that already ran."""
        self._refuse_paused()
        program = java.find_java()
        settings = self._settings()
        folders = {
            version: jars.ensure_jars(self._cache, program, self._progress, version)[0]
            for version in dict.fromkeys(settings.version(*key) for key in wanted)
        }
        clusters = self._clusters(settings, nothing_runs=not self._running())
        names = [self._parts[key].name for key in missing]
        if settings.secure:
            secure.make(self.paths.security)
        if names:
            self._progress.say(f"starting {', '.join(names)} in {self.paths.root}")
            self._remember(clusters, settings)
        plain = dataclasses.replace(settings, secure=False)
        found = {
            version: (folder, archives.ensure(folder, program, plain, self._progress, version))
            for version, folder in folders.items()
        }
        Starter(self.paths, clusters, settings, program, found, self._progress).up(missing, wanted)
        self._remember(clusters, settings)
        return names

    def _clusters(self, settings: Settings, nothing_runs: bool) -> dict[str, Cluster]:
        """The clusters of the last start with the same ports, or with new ports if another program uses one."""
        clusters = layout.clusters_of(self.paths, layout.load_state(self.paths))
        wanted = [port for cluster in clusters.values() for port in cluster.ports]
        if not clusters and not nothing_runs:
            raise LabError(
                f"{self.paths.state_file} is missing although parts of the lab run. Run down --dir ..., then up."
            )
        engine, stored = settings.engine, layout.stored_settings(layout.load_state(self.paths)).engine
        if clusters and engine != stored and not nothing_runs:
            raise LabError(f"The lab runs with the engine {stored}, wanted {engine}. Run down --dir ..., then up.")
        if not clusters or (engine in EMULATED) != all(cluster.cm_port for cluster in clusters.values()):
            return layout.new_clusters(self.paths, settings)
        if nothing_runs and not ports.all_free(wanted):
            self._progress.say("another program uses a port of the last start: choosing new ports")
            return layout.new_clusters(self.paths, settings)
        return {alias: dataclasses.replace(cluster, secure=settings.secure) for alias, cluster in clusters.items()}

    def _settings(self) -> Settings:
        state = layout.load_state(self.paths)
        stored = layout.stored_settings(state)
        if not state and self.paths.security.exists:
            # Without lab.json a secured lab must stay secured.
            stored = dataclasses.replace(stored, secure=True)
        return dataclasses.replace(stored, **{key: value for key, value in self._chosen.items() if value is not None})

    def _stop(self, keys: list[Key]) -> list[str]:
        for key in keys:
            processes.adopt_strays(self._parts[key])
        found = [self._parts[key] for key in keys if processes.pid_of(self._parts[key]) is not None]
        for part in processes.stop(found, max(STOP_SECONDS[kind(name)] for _alias, name in keys)):
            self._progress.say(f"{part.name} did not exit in time and was killed")
        if found:
            self._progress.say(f"{', '.join(part.name for part in found)} stopped")
        return [part.name for part in found]

    def _signal(self, alias: str, part: str, number: signal.Signals, wanted: str) -> bool:
        target = self._parts[self._key(alias, part)]
        before = processes.state_of(target)
        if before == "stopped":
            raise LabError(
                f"{target.name} does not run, so it cannot become {wanted}. `status` shows the running parts."
            )
        processes.send(target, number)
        if not processes.wait_until(lambda: processes.state_of(target) == wanted, 5.0, 0.01):
            raise LabError(f"{target.name} is {processes.state_of(target)} 5 s after the signal, wanted {wanted}.")
        return before != wanted

    def _refuse_paused(self) -> None:
        paused = [part.name for part in self._parts.values() if processes.state_of(part) == "paused"]
        if paused:
            raise LabError(
                f"{', '.join(paused)} is paused and does not respond. Run resume {paused[0]} --dir ... first."
            )

    def _refuse_other_security(self, settings: Settings) -> None:
        if settings.secure and settings.engine == "srm":
            raise LabError("A secured lab does not support the engine srm: its emulators have no TLS. Remove one.")
        if settings.secure:
            secure.refuse_path(self.paths.root)
        formatted = any(layout.stored_cluster_id(self.paths, alias) for alias in ALIASES)
        if formatted and settings.secure != self.paths.security.exists:
            made, wanted = ("open", "secured") if settings.secure else ("secured", "open")
            raise LabError(
                f"The lab in {self.paths.root} was created {made}, wanted {wanted}: users are created with the data. "
                "Run down --wipe --dir ... first, or up --fresh."
            )

    def _refuse_other_size(self, settings: Settings) -> None:
        if not 1 <= settings.brokers <= MOST_BROKERS or not 1 <= settings.workers <= MOST_WORKERS:
            raise LabError(f"A lab has 1 to {MOST_BROKERS} brokers and 1 to {MOST_WORKERS} workers for each cluster.")
        stored = layout.stored_settings(layout.load_state(self.paths))
        formatted = any(layout.stored_cluster_id(self.paths, alias) for alias in ALIASES)
        if formatted and (settings.brokers, settings.workers) != (stored.brokers, stored.workers):
            raise LabError(
                f"Each cluster of the lab in {self.paths.root} has {stored.brokers} brokers and {stored.workers}"
                f" workers, wanted {settings.brokers} and {settings.workers}."
                " Run down --wipe --dir ... first, or up --fresh."
            )

    def _refuse_other_metadata(self, settings: Settings) -> None:
        stored = layout.stored_settings(layout.load_state(self.paths))
        for alias in filter(settings.zookeeper, ALIASES):
            if settings.secure or settings.brokers > 1:
                version = settings.version(alias, "broker")
                raise LabError(f"Kafka {version} runs with ZooKeeper in the lab: one broker, not secured.")
        for alias in ALIASES:
            formatted = layout.stored_cluster_id(self.paths, alias)
            if formatted and settings.zookeeper(alias) != stored.zookeeper(alias):
                raise LabError(
                    f"The data of {alias} in {self.paths.root} was written by Kafka {stored.version(alias, 'broker')},"
                    f" wanted {settings.version(alias, 'broker')}: only one of them uses ZooKeeper."
                    " Run down --wipe --dir ... first, or up --fresh."
                )

    def _key(self, alias: str, part: str) -> Key:
        if (alias, part) not in self._parts:
            known = ", ".join(f"{alias} {part}" for alias, part in self.wanted())
            raise LabError(f"The lab has no part {alias!r} {part!r}. Its parts are {known}.")
        return alias, part

    def _pids(self) -> dict[Key, int | None]:
        return {key: processes.pid_of(part) for key, part in self._parts.items()}

    @staticmethod
    def _part_status(part: processes.Part) -> dict[str, Any]:
        pid = processes.pid_of(part)
        size = processes.resident_mib(pid) if pid else None
        return {"pid": pid, "state": processes.state_of(part), "rss_mib": size, "log": str(part.log)}

    def _remember(self, clusters: dict[str, Cluster] | None = None, settings: Settings | None = None) -> None:
        state = layout.load_state(self.paths)
        clusters = clusters or layout.clusters_of(self.paths, state)
        if clusters:
            document = layout.state_document(
                self.paths, clusters, settings or layout.stored_settings(state), self._pids()
            )
            write_atomically(self.paths.state_file, to_json(document))

    def _wipe(self) -> None:
        for path in self.paths.data:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        self._progress.say(f"data of the lab in {self.paths.root} removed")
