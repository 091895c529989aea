# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sites made of containers: sites.py up, part, join, lose ALIAS, give_back ALIAS or down, with --dir and --name.

A site is a network of its own, without a way out. In it stand a broker and a Connect worker. A worker has a second leg
in the other site's network, because its flow reads there: these two legs are the link between the sites. Applications
have a host in both networks. The lab's own configuration files serve, with other addresses.
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
# The last part of an address; in the other site's network a worker has the second one.
HOSTS = {"broker": (10,), "connect": (11, 12), "apps": (13,)}
LATE_SECONDS = 180.0
SETTINGS = configs.Settings(heap_mb=256)


@dataclass(frozen=True)
class Site(configs.Cluster):
    """A cluster whose parts have addresses of their own."""

    network: ipaddress.IPv4Network = field(kw_only=True)

    def address(self, part: str, leg: int = 0) -> str:
        return str(self.network[HOSTS[part][leg]])

    @property
    def bootstrap_servers(self) -> str:
        return f"{self.address('broker')}:{self.broker_port}"

    def url(self, part: str) -> str:
        return f"http://{self.address(part)}:{self.connect_port}"


def docker(*words: str) -> str:
    """The standard output of one command of the client."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"docker {shlex.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()


@dataclass(frozen=True)
class Names:
    """Of this checkout's containers and networks: an engine may serve several."""

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
    """Fixed addresses need a network that is asked for by its range; the engine knows one that is free here."""
    docker("network", "create", "--internal", name)
    free = docker("network", "inspect", "--format", "{{(index .IPAM.Config 0).Subnet}}", name)
    docker("network", "rm", name)
    docker("network", "create", "--internal", "--subnet", free, name)
    return ipaddress.IPv4Network(free)


def legs(names: Names, site: Site, other: Site, part: str) -> dict[str, str]:
    """Network and address of one part of a site; the first is its own."""
    own = {names.network(site.alias): site.address(part)}
    return own if part == "broker" else {**own, names.network(other.alias): other.address(part, -1)}


@dataclass(frozen=True)
class Containers:
    """What all containers share: the image, the folder that they work in, and what they may read besides."""

    image: str
    root: Path
    readable: list[Path]

    def start(self, name: str, wanted: dict[str, str], *command: str) -> None:
        """With these addresses, each in its network."""
        mounts = [f"{path}:{path}:ro" for path in self.readable] + [f"{self.root}:{self.root}"]
        (own, address), *more = wanted.items()
        options = ["--init", "--name", name, "--network", own, "--ip", address]
        # A worker gives up where its broker is not ready within a minute: on a busy machine it is not.
        options += ["--restart", "on-failure:5"]
        options += [word for mount in mounts for word in ("--volume", mount)]
        docker("create", "--pull=never", *options, self.image, *command)
        for also, second in more:
            docker("network", "connect", "--ip", second, also, name)
        docker("start", name)


def up(names: Names, root: Path, image: str) -> dict[str, dict[str, str]]:
    """Everything anew. Started, not ready: Kafka needs some seconds."""
    down(names)
    shutil.rmtree(root, ignore_errors=True)
    folder, _downloaded = jars.ensure_jars(jars.default_cache(), java.find_java(), Progress())
    # The Python that runs this as well, for the applications, where it is not the image's own.
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
    known: dict[str, dict[str, str]] = {}
    for alias, site in sites.items():
        for part, values in properties(site).items():
            config, name = site.config_file(part), names.container(alias, part)
            write_atomically(config, configs.properties(values))
            known[name] = legs(names, site, sites[OTHER[alias]], part)
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
            both.start(name, known[name], "sh", "-c", f"exec >{log} 2>&1; {prepare} && exec {serve}")
    homes = {names.network(alias): site.address("apps") for alias, site in sites.items()}
    both.start(names.apps, homes, "sleep", "infinity")
    write_atomically(root / "addresses.json", json.dumps(known))
    return {
        alias: {key: getattr(site, key) for key in ("bootstrap_servers", "connect_url", "cluster_id")}
        for alias, site in sites.items()
    }


def properties(site: Site) -> dict[str, dict[str, object]]:
    # The controller talks to nobody else, and is to outlive the network.
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
    """Connect a container to a network, where it had its address before, or disconnect it."""
    if there:
        docker("network", "connect", "--ip", json.loads((root / "addresses.json").read_text())[name][one], one, name)
    else:
        docker("network", "disconnect", one, name)


def link(names: Names, root: Path, there: bool) -> None:
    """Between the sites."""
    for alias, other in OTHER.items():
        plug(root, names.container(alias, "connect"), names.network(other), there)


def whole(names: Names, root: Path, alias: str, there: bool) -> None:
    """Everything that stands in one site; its legs elsewhere belong to the link."""
    for part in configs.PARTS:
        plug(root, names.container(alias, part), names.network(alias), there)
    if there:
        sent_late(names)


def sent_late(names: Names) -> None:
    """Returns when no program that has ended has left anything to be sent from the applications' host.

    Its kernel goes on trying for some hundred seconds (tcp_orphan_retries), so a producer's last records can reach a
    side that is back long after the producer is gone. Its ledger calls their outcome unknown.
    """
    until = time.monotonic() + LATE_SECONDS
    while left := unsent(docker("exec", names.apps, "cat", "/proc/net/tcp")):
        if time.monotonic() > until:
            raise SystemExit(f"After {LATE_SECONDS:g} s still to be sent from {names.apps}: {left}")
        time.sleep(0.2)


def unsent(table: str) -> list[str]:
    """Of /proc/net/tcp: what its program has closed, and the other end has not had everything of yet."""
    head, *lines = table.splitlines()
    state = head.split().index("st")  # anything else than that table is an error, and not a host without connections
    return [line for line in lines if line.split()[state] in ("04", "09", "0B")]  # FIN_WAIT1, LAST_ACK, CLOSING


def down(names: Names) -> None:
    """Nothing of it stays, and nothing was there is as good."""
    subprocess.run(["docker", "rm", "--force", *names.containers], capture_output=True, check=False)
    subprocess.run(["docker", "network", "rm", *map(names.network, OTHER)], capture_output=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["up", "part", "join", "lose", "give_back", "down"])
    parser.add_argument("alias", nargs="?", choices=list(OTHER))
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--name", required=True, help="what the names of containers and networks begin with")
    parser.add_argument("--image")
    options = parser.parse_args()
    names, root = Names(options.name), options.dir.resolve()
    if options.command == "up":
        sys.stdout.write(json.dumps(up(names, root, options.image)) + "\n")
    elif options.command == "down":
        down(names)
    elif options.command in ("part", "join"):
        link(names, root, options.command == "join")
    else:
        whole(names, root, options.alias, options.command == "give_back")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
