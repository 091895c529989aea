# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make image`: the execution environment of awx/, built on a Debian image, and jobs in it, as on a node of AWX."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from awx_project import PROJECT
from awx_runs import Awx, lab_credentials
from kafka_dr_audit.session import CONNECTORS
from lab.lab import Lab
from repository import ROOT
from scenario import Scenario, totals
from secured import leaks, masked
from snapshot import read_inventory

pytestmark = pytest.mark.timeout(2700)

BIN = Path(sys.executable).parent
HERE = Path(__file__).parent
LOG = ROOT / "build" / "logs" / "image.log"
BASE, IMAGE, APPLICATIONS = (f"kafka-dr-image-{name}" for name in ("base", "test", "applications"))
PINNED = dict(line.split("==") for line in (ROOT / "requirements-run.in").read_text().splitlines() if "==" in line)
PYTHON = "/opt/ansible/bin/python3"
JARS = f"/usr/share/kafka-dr/spark-{PINNED['pyspark']}/jars"
INSTALLED = "/usr/share/ansible/collections/ansible_collections"
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]


def run(*command: str, log: Path | None = None) -> str:
    """The standard output of a program, which must succeed. ``log``: where all of its output is kept."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(done.stdout + done.stderr)
    assert done.returncode == 0, f"{command} exited with {done.returncode}\n{done.stdout[-6000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The base image. Both images get the certificates that were added to this machine."""
    debian = os.environ.get("KAFKA_DR_DEBIAN")
    assert debian, "make image runs this file: it imports the Debian image and provides a Docker engine"
    context = tmp_path_factory.mktemp("base")
    own = Path("/usr/local/share/ca-certificates")
    (context / "certificates").mkdir()
    for path in own.rglob("*.crt"):
        shutil.copy(path, context / "certificates")
    for target, tag in (("base", BASE), ("applications", APPLICATIONS)):
        arguments = ["--network=host", f"--build-arg=DEBIAN={debian}", f"--target={target}", f"--tag={tag}"]
        run("docker", "build", *arguments, f"--file={HERE / 'Dockerfile'}", str(context))
    return BASE


@pytest.fixture(scope="module")
def version() -> str:
    return str(yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"])


@pytest.fixture(scope="module")
def galaxy(version: str) -> Iterator[str]:
    """A Galaxy server that has this collection only. Yields its address."""
    script = ROOT / "tests" / "support" / "artifact.sh"
    tarball = Path(run("bash", str(script)).splitlines()[-1]).read_bytes()
    collection = "/api/v3/collections/switchback/kafka_dr"
    released = {
        "namespace": {"name": "switchback"},
        "collection": {"name": "kafka_dr"},
        "version": version,
        "download_url": "/kafka_dr.tar.gz",
        "artifact": {"sha256": hashlib.sha256(tarball).hexdigest()},
        "metadata": {"dependencies": {}},
        "href": f"{collection}/versions/{version}/",
    }
    documents: dict[str, Any] = {
        "/api/": {"available_versions": {"v3": "v3/"}},
        f"{collection}/": {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"},
        f"{collection}/versions/": {"data": [{"version": version}], "links": {"next": None}},
        f"{collection}/versions/{version}/": released,
    }
    served = {"/kafka_dr.tar.gz": tarball, **{path: json.dumps(text).encode() for path, text in documents.items()}}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = served.get(self.path.split("?")[0])
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_values: Any) -> None:
            """Quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/api/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def image(base: str, galaxy: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The image as the guide builds it, from the definition as it is. Only build arguments name what is different."""
    arguments = {
        "EE_BASE_IMAGE": base,
        "PKGMGR": "/usr/bin/apt-get",
        "PYCMD": PYTHON,
        "ANSIBLE_GALAXY_CLI_COLLECTION_OPTS": f"--server {galaxy}",
    }
    definition = PROJECT / "execution-environment" / "execution-environment.yml"
    command = [str(BIN / "ansible-builder"), "build", f"--file={definition}", f"--tag={IMAGE}", "--verbosity=3"]
    command += [f"--context={tmp_path_factory.mktemp('context')}", "--container-runtime=docker"]
    command += [f"--build-arg={name}={value}" for name, value in arguments.items()]
    run(*command, "--extra-build-cli-args=--network=host", log=LOG)
    return IMAGE


def inside(image: str, *command: str) -> str:
    """The output of a program in the image, as a user that the image does not know, and without a network."""
    return run("docker", "run", "--rm", "--network=none", "--user=12345:0", image, *command)


def test_the_image_has_java_and_the_programs_of_a_job(image: str) -> None:
    assert re.search(r'version "(17|21)\.', inside(image, "sh", "-c", "java -version 2>&1"))
    assert inside(image, "ansible-runner", "--version").startswith("2.")
    assert re.match(r"ansible-playbook \[core 2\.19\.", inside(image, "ansible-playbook", "--version"))
    # ansible-runner adds the key of a machine credential with them.
    for program in ("ssh", "ssh-agent", "ssh-add"):
        inside(image, "which", program)


def test_the_image_has_the_collection_at_its_version(image: str, version: str) -> None:
    listed = json.loads(inside(image, "ansible-galaxy", "collection", "list", "--format", "json"))
    assert listed[INSTALLED] == {"switchback.kafka_dr": {"version": version}}


def test_the_image_has_the_tested_spark_with_its_connector(image: str) -> None:
    listed = {one["name"]: one["version"] for one in json.loads(inside(image, "pip", "list", "--format", "json"))}
    assert listed["pyspark"] == PINNED["pyspark"]
    assert {"confluent-kafka", "numpy", "pandas", "pyarrow"} <= set(listed)
    sums = inside(image, "sh", "-c", f"cd {JARS} && sha256sum *")
    assert dict(reversed(line.split()) for line in sums.splitlines()) == CONNECTORS[PINNED["pyspark"]]


def test_the_image_has_a_class_archive_that_every_user_can_read(image: str) -> None:
    program = "from kafka_dr_audit.session import archive; print(len(archive().read_bytes()))"
    bytes_ = inside(image, "sh", "-c", f"cd {INSTALLED}/switchback/kafka_dr/spark && {PYTHON} -c '{program}'")
    assert int(bytes_) > 50 << 20


# ---- a job in it


@pytest.fixture(scope="module")
def pair(image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    with Scenario(tmp_path_factory.mktemp("image"), 3, CLIENTS, secure=True).up() as made:
        yield made


@pytest.fixture(scope="module")
def ssh(pair: Scenario) -> Iterator[tuple[int, str]]:
    """The port of a host of the applications, and a key that may log in.

    The host is a container that sees the processes of this machine, so the ledgers can be driven from here as well.
    """
    folder = pair.folder / "ssh"
    folder.mkdir(mode=0o700)
    pythons = {Path(path) for path in (sys.prefix, sys.base_prefix)} - {Path("/usr")}
    mounts = [f"{pair.folder}:{pair.folder}", *(f"{path}:{path}:ro" for path in {ROOT, *pythons})]
    options = ["--network=host", "--pid=host", *(f"--volume={mount}" for mount in mounts)]
    key = folder / "key"
    run("docker", "run", "--rm", *options, APPLICATIONS, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "AuthorizedKeysFile": f"{key}.pub",
        "PasswordAuthentication": "no",
        "UsePAM": "no",
        "StrictModes": "no",  # the folder of the key is in a folder for temporary files
    }
    words = [f"-o{name}={value}" for name, value in settings.items()]
    name = f"{APPLICATIONS}-{port}"
    run("docker", "run", "--detach", "--name", name, *options, APPLICATIONS, "/usr/sbin/sshd", "-D", "-e", *words)
    try:
        yield port, key.read_text()
    finally:
        run("docker", "rm", "--force", name)


@pytest.fixture(scope="module")
def awx(pair: Scenario, image: str, ssh: tuple[int, str]) -> Awx:
    """Jobs in the image, on the network of this machine. They reach the applications by SSH."""
    port, key = ssh
    inventory = pair.folder / "inventory-awx"
    shutil.copytree(pair.inventory, inventory)
    host = {"ansible_host": "127.0.0.1", "ansible_port": port, "ansible_user": "root"}
    host["ansible_python_interpreter"] = "/usr/bin/python3"
    (inventory / "applications.yml").write_text(yaml.safe_dump({"all": {"hosts": {"applications": host}}}))
    variables = {
        "kafka_dr_clients": [
            {**client, "hosts": "applications"} for client in read_inventory(pair.inventory)["kafka_dr_clients"]
        ],
        "kafka_dr_report_dir": str(pair.reports),
        "kafka_dr_audit": "true",
        # Where Spark's JVM got its classes from.
        "kafka_dr_spark_conf": {"spark.driver.defaultJavaOptions": f"-Xlog:class+load:file={pair.folder}/classes.txt"},
    }
    credentials = lab_credentials(Lab(pair.folder, quiet=True))
    return Awx(pair.folder / "awx", inventory, variables, credentials, image=image, key=key)


def test_a_failover_in_the_image_is_proven_with_the_audit(pair: Scenario, awx: Awx) -> None:
    enabled = awx.launch("enable", kafka_dr_confirm="P")
    assert (enabled.status, enabled.changed > 0) == ("successful", True), enabled.stdout
    pair.start()
    pair.traffic(1000)
    moved = awx.launch("failover_cutoff", kafka_dr_confirm="B")
    assert moved.status == "successful", moved.stdout
    passed_on = {key: moved.artifacts[key] for key in ("kafka_dr_verdict", "kafka_dr_outcome")}
    assert passed_on == {"kafka_dr_verdict": "PROVEN", "kafka_dr_outcome": "completed"}, moved.stdout
    report = pair.report("cutoff", "B")
    assert {check["verdict"] for check in report["checks"]} == {"PROVEN"}, report["checks"]
    assert report["audit"]["verdict"] == "PROVEN"
    # They differ by what the applications write on B while the audit reads.
    assert min(report["audit"]["records"][side] for side in ("source", "target")) >= 1000
    pair.traffic(500)
    pair.stop()
    counted = totals(pair.check())
    assert counted["processed"] == counted["acknowledged"] > 0
    assert {counted[key] for key in ("lost", "processed_twice", "phantom", "out_of_order", "unknown")} == {0}


def test_the_audit_of_the_job_used_the_class_archive_and_the_connector_of_the_image(pair: Scenario) -> None:
    sources = [line.rpartition("source: ")[2] for line in (pair.folder / "classes.txt").read_text().splitlines()]
    assert sources.count("shared objects file (top)") > len(sources) / 3
    connector = {source for source in sources if "sql-kafka" in source}
    assert connector == {f"file:{JARS}/spark-sql-kafka-0-10_2.13-{PINNED['pyspark']}.jar"}


def test_no_job_shows_a_secret(pair: Scenario, awx: Awx) -> None:
    texts = [text for job in awx.jobs for text in job.texts]
    assert masked(texts)
    assert leaks(Lab(pair.folder, quiet=True), texts) == []
