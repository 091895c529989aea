# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run two sites in containers.

``sites.py up | cut_link | restore_link | disconnect ALIAS | reconnect ALIAS | down``, with ``--dir`` and ``--name``.

A site is an internal network with a broker and a Connect worker. Each worker also has an address in the network of the
other site, because its flow reads there: these two addresses are the link between the sites. The host of the
applications is in both networks. The containers use the configuration files of the lab with other addresses.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "roles" / "lab" / "files"))

from lab import configs, jars, java, layout  # noqa: E402
from lab.files import write_atomically  # noqa: E402
from lab.progress import Progress  # noqa: E402

OTHER = {"P": "B", "B": "P"}
#: Last byte of the address, by part. A worker has the second one in the network of the other site.
HOSTS = {"broker": (10,), "connect": (11, 12), "apps": (13,)}
LATE_SECONDS = 180.0
SETTINGS = configs.Settings(heap_mb=256)


@dataclass(frozen=True)
class Site(configs.Cluster):
    """A cluster whose broker and worker have separate addresses."""

    network: ipaddress.IPv4Network = field(kw_only=True)

    def address(self, part: str, leg: int = 0) -> str:
        return str(self.network[HOSTS[part][leg]])

    @property
    def bootstrap_servers(self) -> str:
        return f"{self.address('broker')}:{self.broker_port}"

    def url(self, part: str) -> str:
        return f"http://{self.address(part)}:{self.connect_port}"


def docker(*words: str) -> str:
    """Run one command of the Docker client and return its standard output."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"docker {shlex.join(words)} exited with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()


@dataclass(frozen=True)
class Names:
    """Names of the containers and networks of this checkout. An engine may serve several checkouts."""

    prefix: str

    def container(self, alias: str, part: str) -> str:
        return f"{self.prefix}-{alias.lower()}-{part}"

    def network(self, alias: str) -> str:
        return f"{self.prefix}-{alias.lower()}"

    @property
    def apps(self) -> str:
        return f"{self.prefix}-apps"

    @property
    def containers(self) -> list[str]:
        return [*(self.container(alias, part) for alias in OTHER for part in configs.PARTS), self.apps]


def make_network(name: str) -> ipaddress.IPv4Network:
    """Create an internal network. Fixed addresses need an explicit range, so the engine first chooses a free one."""
    docker("network", "create", "--internal", name)
    free = docker("network", "inspect", "--format", "{{(index .IPAM.Config 0).Subnet}}", name)
    docker("network", "rm", name)
    docker("network", "create", "--internal", "--subnet", free, name)
    return ipaddress.IPv4Network(free)


def addresses(names: Names, site: Site, other: Site, part: str) -> dict[str, str]:
    """Address of a part by network. The network of its own site comes first."""
    own = {names.network(site.alias): site.address(part)}
    return own if part == "broker" else {**own, names.network(other.alias): other.address(part, -1)}


@dataclass(frozen=True)
class Containers:
    """Settings of all containers: the image, the writable folder, and the folders that are mounted read-only."""

    image: str
    root: Path
    readable: list[Path]

    def start(self, name: str, wanted: dict[str, str], *command: str) -> None:
        """Start a container with these addresses, by network."""
        mounts = [f"{path}:{path}:ro" for path in self.readable] + [f"{self.root}:{self.root}"]
        (own, address), *more = wanted.items()
        options = ["--init", "--name", name, "--network", own, "--ip", address]
        # A worker exits if its broker is not ready within a minute, which happens on a busy machine.
        options += ["--restart", "on-failure:5"]
        options += [word for mount in mounts for word in ("--volume", mount)]
        docker("create", "--pull=never", *options, self.image, *command)
        for also, second in more:
            docker("network", "connect", "--ip", second, also, name)
        docker("start", name)


def up(names: Names, root: Path, image: str) -> dict[str, dict[str, str | list[str]]]:
    """Remove and recreate both sites. Returns before Kafka is ready, which takes some seconds."""
    down(names)
    shutil.rmtree(root, ignore_errors=True)
    folder, _downloaded = jars.ensure_jars(jars.default_cache(), java.find_java(), Progress())
    # Also mount the Python that runs this program for the applications, unless it is the system's Python.
    pythons = [path for path in (Path(sys.prefix), Path(sys.base_prefix)) if path != Path("/usr")]
    both = Containers(image, root, [folder, ROOT, *(path for path in pythons if ROOT not in path.parents)])
    sites = {
        alias: Site(alias, root / alias, layout.new_cluster_id(), 9092, 9093, 8083, network=make_network(name))
        for alias, name in ((alias, names.network(alias)) for alias in OTHER)
    }
    for path in (root / "tmp", root / "logs"):
        path.mkdir(parents=True, exist_ok=True)
    log4j2 = root / "log4j2.properties"
    write_atomically(log4j2, configs.LOG4J2)
    program = ["java", *configs.jvm_options(SETTINGS, root, log4j2), "-cp", f"{folder}/*"]
    by_container: dict[str, dict[str, str]] = {}
    for alias, site in sites.items():
        for part, values in properties(site).items():
            config, name = site.config_file(part), names.container(alias, part)
            write_atomically(config, configs.properties(values))
            by_container[name] = addresses(names, site, sites[OTHER[alias]], part)
            words = [
                "kafka.tools.StorageTool",
                "format",
                "--ignore-formatted",
                "-t",
                site.cluster_id,
                "-c",
                str(config),
            ]
            prepare = shlex.join([*program, *words]) if part == "broker" else "true"
            serve = shlex.join([*program, configs.MAINS[part], str(config)])
            log = shlex.quote(str(root / "logs" / f"{name}.log"))
            both.start(name, by_container[name], "sh", "-c", f"exec >{log} 2>&1; {prepare} && exec {serve}")
    homes = {names.network(alias): site.address("apps") for alias, site in sites.items()}
    both.start(names.apps, homes, "sleep", "infinity")
    write_atomically(root / "addresses.json", json.dumps(by_container))
    return {
        alias: {
            **{key: getattr(site, key) for key in ("bootstrap_servers", "connect_url", "cluster_id")},
            "connect_urls": [site.connect_url],
        }
        for alias, site in sites.items()
    }


def properties(site: Site) -> dict[str, dict[str, object]]:
    # The controller uses the loopback address, so that it keeps running while the network is disconnected.
    controller = f"127.0.0.1:{site.controller_port}"
    return {
        "broker": {
            **configs.broker(site),
            "listeners": f"PLAINTEXT://{site.bootstrap_servers},CONTROLLER://{controller}",
            "advertised.listeners": f"PLAINTEXT://{site.bootstrap_servers}",
        },
        "connect": {**configs.connect(site, SETTINGS), "rest.advertised.host.name": site.address("connect")},
    }


def plug(root: Path, name: str, one: str, there: bool) -> None:
    """Connect a container to a network with its former address, or disconnect it."""
    if there:
        docker("network", "connect", "--ip", json.loads((root / "addresses.json").read_text())[name][one], one, name)
    else:
        docker("network", "disconnect", one, name)


def link(names: Names, root: Path, there: bool) -> None:
    """Connect or disconnect the link between the sites."""
    for alias, other in OTHER.items():
        plug(root, names.container(alias, "connect"), names.network(other), there)


def whole_site(names: Names, root: Path, alias: str, there: bool) -> None:
    """Connect or disconnect the broker and the worker of one site. Does not change the link."""
    for part in configs.PARTS:
        plug(root, names.container(alias, part), names.network(alias), there)
    if there:
        wait_for_late_data(names)


def wait_for_late_data(names: Names) -> None:
    """Wait until the applications' host has no unsent data of programs that have exited.

    The kernel retries for about 100 seconds (tcp_orphan_retries), so the last records of a producer can reach a
    reconnected cluster long after the producer has exited. Its ledger records their outcome as unknown.
    """
    until = time.monotonic() + LATE_SECONDS
    while left := unsent(docker("exec", names.apps, "cat", "/proc/net/tcp")):
        if time.monotonic() > until:
            raise SystemExit(f"{names.apps} still has unsent data after {LATE_SECONDS:g} s: {left}")
        time.sleep(0.2)


def unsent(table: str) -> list[str]:
    """Lines of /proc/net/tcp for sockets that are closed locally and have unacknowledged data."""
    head, *lines = table.splitlines()
    state = head.split().index("st")  # raises ValueError if the text is not that table
    return [line for line in lines if line.split()[state] in ("04", "09", "0B")]  # FIN_WAIT1, LAST_ACK, CLOSING


def down(names: Names) -> None:
    """Remove all containers and networks. Missing ones are no error."""
    subprocess.run(["docker", "rm", "--force", *names.containers], capture_output=True, check=False)
    subprocess.run(["docker", "network", "rm", *map(names.network, OTHER)], capture_output=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["up", "cut_link", "restore_link", "disconnect", "reconnect", "down"])
    parser.add_argument("alias", nargs="?", choices=list(OTHER))
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--name", required=True, help="prefix for the names of containers and networks")
    parser.add_argument("--image")
    options = parser.parse_args()
    names, root = Names(options.name), options.dir.resolve()
    if options.command == "up":
        sys.stdout.write(json.dumps(up(names, root, options.image)) + "\n")
    elif options.command == "down":
        down(names)
    elif options.command in ("cut_link", "restore_link"):
        link(names, root, options.command == "restore_link")
    else:
        whole_site(names, root, options.alias, options.command == "reconnect")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
