# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python roles/lab/files/strimzi``: run the emulated operator for one KafkaConnect."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from .cluster_operator import Operator
from .kube import Kube
from .worker import RestWorkers

# The real operator's client has no fixed name. Tests need one that is neither a person's nor a GitOps controller's.
MANAGER = "strimzi-cluster-operator"


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="strimzi", description="Emulator of the Strimzi cluster operator.")
    result.add_argument("--url", required=True, help="address of the API server")
    result.add_argument("--ca", help="its certificate authority, PEM")
    result.add_argument("--token-file", type=Path, required=True)
    result.add_argument("--namespace", required=True)
    result.add_argument("--connect", required=True, help="name of the KafkaConnect")
    result.add_argument("--workers", required=True, help="REST address of the Connect workers that it stands for")
    result.add_argument("--workers-client", type=Path, help="JSON file with url_username, url_password and ca_path")
    result.add_argument("--version", default="0.49.1", help="the version to behave like")
    result.add_argument("--interval", type=float, default=120.0, help="seconds between full reconciliations")
    result.add_argument("--delay", type=float, default=0.0, help="seconds before each reconciliation")
    return result


def main() -> int:
    options = parser().parse_args()
    kube = Kube(options.url, options.token_file.read_text().strip(), options.ca, MANAGER)
    client = json.loads(options.workers_client.read_text()) if options.workers_client else {}
    workers = RestWorkers(options.workers, client)
    operator = Operator(kube, workers, options.namespace, options.connect, options.version, options.interval)
    operator.delay = options.delay
    ended = threading.Event()

    def end(_number: int, _frame: Any) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    operator.start()
    sys.stdout.write(json.dumps({"pid": os.getpid(), "version": options.version}) + "\n")
    sys.stdout.flush()
    ended.wait()
    operator.stop()
    return 0
