# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Spark standalone cluster on this machine, from the classes that PySpark ships."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark


def free_port() -> int:
    """A port of the loopback interface that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def alive(page: str) -> int:
    """The workers that a master has registered."""
    try:
        with urllib.request.urlopen(page, timeout=2) as answer:
            return int(json.load(answer)["aliveworkers"])
    except OSError:
        return 0


@contextmanager
def standalone(folder: Path, workers: int = 1) -> Iterator[str]:
    """Run a master, and workers with one core each. Yield the address of the master."""
    home = Path(pyspark.__file__).parent
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    local = ["--host", "127.0.0.1"]
    worker = ["worker.Worker", *local, "--webui-port", "0", "--cores", "1", "--memory", "1g", address]
    parts = [["master.Master", *local, "--port", str(port), "--webui-port", str(page)], *[worker] * workers]
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_WORKER_DIR": str(folder / "work")}
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for number, part in enumerate(parts):
            log = stack.enter_context((folder / f"{part[0]}-{number}.log").open("w"))
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{part[0]}", *part[1:]]
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        until = time.monotonic() + 60
        while alive(f"http://127.0.0.1:{page}/json/") < workers:
            assert time.monotonic() < until, f"{workers} workers have not found their master"
            time.sleep(0.2)
        yield address
