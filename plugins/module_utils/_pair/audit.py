# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the Spark program that compares both sides record by record, and reads what it found.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._core.errors import DrError
from .._core.inventory.audit_plan import audit_plan, cluster_part
from .._core.verdict import UNKNOWN
from .._files import write_whole
from .._kafka.topics import describe
from .._module import Result
from .connections.clusters import connect_pair

__all__ = ["audit"]

_CODES = {"PROVEN": 0, "REFUTED": 1, "UNKNOWN": 2}


def audit(params: Mapping[str, Any]) -> Result:
    """Write the plan, run the program, return its document under ``audit``.

    Whatever keeps the program from a verdict is UNKNOWN, in a document of the same shape: an old one must not stay the
    last that was written.
    """
    output = Path(params["output"]).absolute()
    plan, environment = _plan(params)
    try:
        output.mkdir(mode=0o750, parents=True, exist_ok=True)
        for name in ("audit.json", "audit.html"):
            (output / name).unlink(missing_ok=True)
        write_whole(output / "plan.json", json.dumps(plan, indent=1) + "\n", 0o640)
    except OSError as error:
        raise DrError("no_audit", f"The plan could not be written: {error}.", "See kafka_dr_audit_dir.") from error
    try:
        document = _audited(params, output, environment)
    except DrError as error:
        document = {
            "schema": "switchback.kafka_dr/audit/1",
            "run": plan["run"],
            "pair": plan["pair"],
            "verdict": UNKNOWN,
            "partial": True,
            "error": {"code": error.code, "message": error.sentence()},
            "text": [f"{UNKNOWN}: {error.sentence()}"],
            "topics": [],
            "not_checked": ["record by record comparison of both sides"],
        }
    reason = document.get("error", {}).get("message", "")
    return Result(extra={"verdict": document["verdict"], "reason": reason, "audit": document, "folder": str(output)})


def _audited(params: Mapping[str, Any], output: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """The program's document, if its exit code says the same."""
    code, last = _run(_command(params, output), environment, params)
    try:
        document: dict[str, Any] = json.loads((output / "audit.json").read_text())
    except (OSError, ValueError):
        document = {}
    if document.get("partial") or _CODES.get(document.get("verdict", "")) != code:
        raise DrError(
            "no_audit",
            document.get("error", {}).get("message") or f"The audit ended with {code} and no verdict: {last}",
            f"What Spark said is in {output / 'spark.log'} on the host where it ran.",
        )
    return document


def _plan(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    kafka = connect_pair(params["clusters"], params["request_timeout"])
    parts: dict[str, Any] = {}
    environment: dict[str, str] = {}
    for alias, cluster in params["clusters"].items():
        parts[alias], hidden = cluster_part(alias, cluster, kafka[alias].cluster_id)
        environment |= hidden
    home = kafka[params["home"]]
    found = {name: state.partitions for name, state in describe(home, params["topics"]).items() if state}
    absent = [topic for topic in params["topics"] if topic not in found]
    if absent:
        raise DrError(
            "topic_missing",
            f'"{absent[0]}" does not exist on {params["home"]}, so there is nothing to compare.',
            "Run the playbook switchback.kafka_dr.enable first.",
        )
    return audit_plan(params, params["state"], parts, found), environment


def _command(params: Mapping[str, Any], output: Path) -> list[str]:
    program = str(Path(params["package"]) / "kafka_dr_audit")
    command = [params["python"] or sys.executable, program, str(output / "plan.json"), "--output", str(output)]
    command += ["--master", params["spark_master"], "--driver-memory", params["spark_memory"]]
    command += ["--settle", str(params["settle"]), "--sample", str(params["sample"])]
    command += ["--jars", params["spark_jars"]] if params["spark_jars"] else []
    for name, value in params["spark_conf"].items():
        command += ["--conf", f"{name}={value}"]
    return command


def _run(command: list[str], environment: Mapping[str, str], params: Mapping[str, Any]) -> tuple[int, str]:
    """Exit code and last line. Its progress goes on to standard error, where the action plugin picks it up."""
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    except OSError as error:
        hint = "See that kafka_dr_spark_python is a Python with PySpark, and that Java is there."
        raise DrError("no_audit", f"{command[0]} could not be started: {error.strerror}.", hint) from error
    too_long = []

    def end(*_: Any) -> None:
        # Spark's JVM is a child of its own: this ends the whole session, and nothing else.
        too_long.append(True)
        os.killpg(process.pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, params["wait_timeout"])
    last = ""
    try:
        for line in process.stderr or ():
            last = line.strip() or last
            sys.stderr.write(line)
            sys.stderr.flush()
        code = process.wait()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if too_long:
        raise DrError(
            "audit_too_long",
            f"The audit did not end within {params['wait_timeout']:g} s; last it said: {last}",
            "Raise kafka_dr_audit_timeout, or give it more cores with kafka_dr_spark_master.",
        )
    return code, last
