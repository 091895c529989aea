# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths in the folder of a lab, and the content of lab.json."""

from __future__ import annotations

import base64
import dataclasses
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import aiven, secure, srm
from .configs import ALIASES, EVERY_PART, MAINS, Cluster, Settings, file_name, kind
from .errors import LabError
from .files import read_json
from .ports import choose
from .processes import Part

PORTS_EACH = {"aiven": 4, "connect": 3, "srm": 4}


@dataclass(frozen=True)
class Layout:
    """The paths below one folder."""

    root: Path

    @property
    def state_file(self) -> Path:
        return self.root / "lab.json"

    @property
    def lock_file(self) -> Path:
        return self.root / "run" / "lock"

    @property
    def log4j2(self) -> Path:
        return self.root / "run" / "log4j2.properties"

    @property
    def security(self) -> secure.Security:
        """Certificates and passwords of a secured lab."""
        return secure.security(self.root)

    @property
    def data(self) -> tuple[Path, ...]:
        """All paths that the program creates. The folder itself may hold other files."""
        names = (*ALIASES, "logs", "run", "tmp", "secure", "lab.json")
        return tuple(self.root / name for name in names)

    def part(self, alias: str, name: str) -> Part:
        return Part(
            name=f"{alias} {name}",
            main=MAINS[kind(name)],
            config=self.root / alias / file_name(name),
            pid_file=self.root / "run" / f"{alias}-{name}.pid",
            log=self.root / "logs" / f"{alias}-{name}.log",
        )

    def parts(self) -> dict[tuple[str, str], Part]:
        """The parts of every engine, so that processes of an earlier start are found too."""
        return {(alias, name): self.part(alias, name) for alias in ALIASES for name in EVERY_PART}


def layout(folder: Path | str) -> Layout:
    # Resolved, because processes are identified by their paths: one folder must have one path only.
    root = Path(folder).expanduser().resolve()
    # Kafka reads the path of its data folders as a list separated by commas.
    if "," in str(root) or "\n" in str(root):
        raise LabError(
            f"The folder of the lab, {root}, must not contain a comma or a line break: choose another --dir."
        )
    return Layout(root)


def new_cluster_id() -> str:
    """16 random bytes in Kafka's encoding. Never starts with a dash, which Kafka's tools would parse as an option."""
    while True:
        found = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not found.startswith("-"):
            return found


def stored_settings(state: dict[str, Any]) -> Settings:
    known = {field.name for field in dataclasses.fields(Settings)}
    return Settings(**{key: value for key, value in state.get("settings", {}).items() if key in known})


def clusters_of(paths: Layout, state: dict[str, Any]) -> dict[str, Cluster]:
    """The clusters of lab.json. Empty before the first start."""
    found = state.get("clusters", {})
    if set(found) != set(ALIASES):
        return {}
    closed = stored_settings(state).secure
    return {
        alias: Cluster(
            alias,
            paths.root / alias,
            found[alias]["cluster_id"],
            *found[alias]["ports"],
            secure=closed,
            more_ports=found[alias].get("more_ports", {}),
        )
        for alias in ALIASES
    }


def stored_cluster_id(paths: Layout, alias: str) -> str | None:
    """The stored cluster id, or None. The file is written after formatting, so it also marks a complete data folder."""
    try:
        return (paths.root / alias / "cluster_id").read_text().strip() or None
    except OSError:
        return None


def new_clusters(paths: Layout, settings: Settings) -> dict[str, Cluster]:
    first = PORTS_EACH[settings.engine]
    more = [part for part in settings.parts if "-" in part]
    each = first + len(more)
    ports = choose(paths.root, each * len(ALIASES))
    return {
        alias: Cluster(
            alias,
            paths.root / alias,
            stored_cluster_id(paths, alias) or new_cluster_id(),
            *ports[index * each : index * each + first],
            secure=settings.secure,
            more_ports=dict(zip(more, ports[index * each + first : (index + 1) * each], strict=True)),
        )
        for index, alias in enumerate(ALIASES)
    }


def state_document(
    paths: Layout, clusters: dict[str, Cluster], settings: Settings, pids: dict[tuple[str, str], int | None]
) -> dict[str, Any]:
    """The content of lab.json: values for other programs, and values for the next start."""
    return {
        "dir": str(paths.root),
        "settings": dataclasses.asdict(settings),
        **({"security": _security(paths)} if settings.secure else {}),
        "clusters": {
            alias: {
                "bootstrap_servers": cluster.bootstrap_servers,
                "connect_url": cluster.connect_url,
                "connect_urls": [cluster.url(part) for part in cluster.workers],
                "cluster_id": cluster.cluster_id,
                "ports": [port for port in cluster.ports if port not in cluster.more_ports.values()],
                "more_ports": dict(cluster.more_ports),
                "pids": {name: pids[alias, name] for name in settings.parts_of(alias)},
                **(_EMULATED[settings.engine](cluster) if settings.engine in _EMULATED else {}),
            }
            for alias, cluster in clusters.items()
        },
    }


def _security(paths: Layout) -> dict[str, Any]:
    """How a client connects. Holds the paths of the passwords, not the passwords."""
    found = paths.security
    return {
        "client": found.trust(),
        "users": list(secure.USERS),
        "passwords": str(found.passwords),
        "flow_login": found.scram_login("flow"),
        "rest_client": found.rest_trust(),
        "rest_passwords": str(found.rest_passwords),
    }


def _srm(cluster: Cluster) -> dict[str, Any]:
    return {"cm_url": cluster.cm_url, "srm_control": str(srm.control(cluster)), "srm": srm.access(cluster)}


def _aiven(cluster: Cluster) -> dict[str, Any]:
    return {"aiven": aiven.access(cluster)}


_EMULATED = {"aiven": _aiven, "srm": _srm}


def load_state(paths: Layout) -> dict[str, Any]:
    return read_json(paths.state_file)
