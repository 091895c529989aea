# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real kube-apiserver with etcd on 127.0.0.1, from the binaries that ``tests/support/kubernetes.sh`` builds."""

from __future__ import annotations

import secrets
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certificates import Served, issue
from strimzi.kube import Kube, KubeError
from strimzi_crds import GROUP, definitions

ROOT = Path(__file__).resolve().parents[2]
# It is ready after 3 s on a machine that has nothing else to do.
READY_SECONDS = 120.0
ACCESS = "rbac.authorization.k8s.io"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_BUILD = ["bash", str(ROOT / "tests" / "support" / "kubernetes.sh")]
_ETCD = ("--unsafe-no-fsync", "--log-level", "error", "--listen-peer-urls", "http://127.0.0.1:0")


class Server:
    """A process that can be ended and started again."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self._folder, self._command = folder, command
        self.start()

    def start(self) -> None:
        with (self._folder / f"{Path(self._command[0]).name}.log").open("ab") as log:
            command = ["nice", "-n", "15", *self._command]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder)

    def stop(self) -> None:
        """End it, also if it is frozen."""
        self.process.send_signal(signal.SIGCONT)
        end(self.process)


@dataclass(frozen=True)
class Cluster:
    """A running API server."""

    url: str
    ca: Path
    #: Token by user. ``admin`` may do everything; ``dr`` and ``nothing`` have no rights at first.
    tokens: dict[str, str]
    #: A certificate with its key, as a login of the user ``dr``.
    client: Served
    #: kube-apiserver; etcd keeps running without it.
    server: Server

    def kube(self, user: str = "admin", manager: str = "kubectl") -> Kube:
        return Kube(self.url, self.tokens[user], str(self.ca), manager)


def missing() -> str | None:
    """Why no API server can be started without building one first. None: the binaries are in the cache."""
    done = subprocess.run([*_BUILD, "--cached"], check=False, stdout=subprocess.DEVNULL)
    return None if done.returncode == 0 else "the cache has no kube-apiserver of this go.sum: run make kubernetes once"


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """Start both servers in ``folder``, and end them by their process ids."""
    with ExitStack() as stack:
        cluster = _start(folder, stack)
        yield cluster


def define(kube: Kube, version: str, vendor: bool = False) -> None:
    """Install the definitions of this version of Strimzi, in place of any other. ``vendor``: the vendor's own."""
    wanted = definitions(version, vendor)
    label = f"{version}-vendor" if vendor else version
    for definition in wanted:
        name = definition["metadata"]["name"]
        found = kube.get(f"{_CRDS}/{name}")
        if found and found["metadata"].get("labels", {}).get("version") == label:
            continue
        if found:
            remove(kube, f"{_CRDS}/{name}")
        definition["metadata"].setdefault("labels", {})["version"] = label
        kube.call("POST", _CRDS, definition)
    served = [item["name"] for item in wanted[0]["spec"]["versions"] if item["served"]]

    def is_served() -> bool:
        try:
            listed = [item["version"] for item in kube.call("GET", f"/apis/{GROUP}")["versions"]]
            if sorted(listed) != sorted(served):
                return False
            for definition in wanted:
                kube.items(f"/apis/{GROUP}/{served[0]}/{definition['spec']['names']['plural']}")
            return True
        except KubeError:
            return False

    until(is_served, 30.0)


def undefine(kube: Kube) -> None:
    """Remove the definitions and with them all resources of Strimzi."""
    for definition in kube.items(_CRDS):
        kube.call("DELETE", f"{_CRDS}/{definition['metadata']['name']}")
    until(lambda: not any(group["name"] == GROUP for group in kube.call("GET", "/apis")["groups"]), 30.0)


def remove(kube: Kube, path: str) -> None:
    """Delete a resource, and wait until it is gone."""
    kube.call("DELETE", path)
    until(lambda: kube.get(path) is None, 60.0)


def until(holds: Callable[[], Any], seconds: float = 10.0) -> None:
    """Wait until a condition holds; fail if it does not."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not reached within {seconds:g} s"
        time.sleep(0.02)


def _start(folder: Path, stack: ExitStack) -> Cluster:
    built = subprocess.run(_BUILD, check=True, text=True, stdout=subprocess.PIPE).stdout.split()[-1]
    ports = _free_ports(2)
    keys, client = issue(folder / "tls"), issue(folder / "client", subject="dr")
    tokens = {user: secrets.token_hex(16) for user in ("admin", "dr", "nothing")}
    # Group system:masters: no role is needed.
    lines = [
        f'{token},{user},{user},"system:masters"' if user == "admin" else f"{token},{user},{user}"
        for user, token in tokens.items()
    ]
    file = folder / "tokens.csv"
    file.touch(mode=0o600)
    file.write_text("\n".join(lines) + "\n")
    etcd = f"http://127.0.0.1:{ports[0]}"
    url = f"https://127.0.0.1:{ports[1]}"
    own = ["--data-dir", str(folder / "etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd]
    started = [Server(folder, [f"{built}/etcd", *own, *_ETCD])]
    stack.callback(started[0].stop)
    started.append(
        Server(
            folder,
            [
                f"{built}/kube-apiserver",
                f"--etcd-servers={etcd}",
                "--bind-address=127.0.0.1",
                f"--secure-port={ports[1]}",
                f"--cert-dir={folder}",
                f"--tls-cert-file={keys.certificate}",
                f"--tls-private-key-file={keys.key}",
                f"--token-auth-file={file}",
                f"--client-ca-file={client.ca}",
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={keys.certificate}",
                f"--service-account-signing-key-file={keys.key}",
                # Pods need neither a service account nor a node here.
                "--disable-admission-plugins=ServiceAccount",
                "--service-cluster-ip-range=10.0.0.0/24",
            ],
        )
    )
    stack.callback(started[1].stop)
    cluster = Cluster(url, keys.ca, tokens, client, started[1])
    _await_ready(cluster, started, folder)
    return cluster


def end(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process, and kill it if that takes too long."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _await_ready(cluster: Cluster, started: list[Server], folder: Path) -> None:
    end = time.monotonic() + READY_SECONDS
    last = ""
    while time.monotonic() < end:
        ended = [server.process for server in started if server.process.poll() is not None]
        assert not ended, f"A server ended with {ended[0].returncode}; see the logs in {folder}"
        try:
            # A custom resource needs the default namespace, which appears last.
            if cluster.kube().get("/api/v1/namespaces/default"):
                return
        except (KubeError, ssl.SSLError) as error:
            last = str(error)
        time.sleep(0.1)
    raise AssertionError(f"The API server was not ready within {READY_SECONDS:g} s: {last}; see the logs in {folder}")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _each in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
