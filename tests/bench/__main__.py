# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make bench: measure, print a table, and write results.json and results.md in build/bench. ``--only=<prefix>``: a
part.

Each figure has the machine, the date and the load of its measurement, because parts may run separately.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/support", "roles/lab/files", "build/collections")]

import audit  # noqa: E402 - beside this file
import audit_large  # noqa: E402 - beside this file
import cutoff  # noqa: E402 - beside this file
import disaster  # noqa: E402
import engines  # noqa: E402
import identity  # noqa: E402
import readiness  # noqa: E402
import scale  # noqa: E402
import srm  # noqa: E402
import topics  # noqa: E402
import translate  # noqa: E402

from interrupted import end_all_on_signals  # noqa: E402 - of tests/support
from lab.ivy import KAFKA_VERSION  # noqa: E402 - the lab is a program of its role
from lab.jars import default_cache  # noqa: E402
from lab.lab import Lab  # noqa: E402

FOLDER = ROOT / "build" / "bench"


def bench_topics() -> list[dict[str, Any]]:
    """On a lab of its own: thousands of topics would slow down the later measurements."""
    lab = Lab(FOLDER / "topics-lab")
    try:
        lab.up(fresh=True)
        bootstrap = lab.info()["clusters"]["P"]["bootstrap_servers"]
        jars = next(iter(sorted(default_cache().glob("jars-*/"))), None)
        return topics.measure(topics.Bench(bootstrap, jars, data=lab.paths.root / "P" / "data"), say)
    finally:
        lab.down(wipe=True)


def bench_cutoff() -> list[dict[str, Any]]:
    """Failovers under load."""
    return cutoff.measure(FOLDER / "cutoff-lab", say)


def bench_translate() -> list[dict[str, Any]]:
    """The translation of the offsets of many groups."""
    lab = Lab(FOLDER / "translate-lab")
    try:
        lab.up(fresh=True)
        found = lab.info()["clusters"]
        keys = ("bootstrap_servers", "connect_url", "cluster_id")
        return translate.measure({alias: {key: found[alias][key] for key in keys} for alias in ("P", "B")}, say)
    finally:
        lab.down(wipe=True)


def bench_identity() -> list[dict[str, Any]]:
    """Failbacks that only replicate new records, if both clusters have the same topic names."""
    lab = Lab(FOLDER / "identity-lab")
    try:
        lab.up(fresh=True)
        return identity.measure(lab.info(), say)
    finally:
        lab.down(wipe=True)


def bench_disaster() -> list[dict[str, Any]]:
    """Failovers from a cluster that was killed."""
    return disaster.measure(FOLDER / "disaster-lab", say)


def bench_engines() -> list[dict[str, Any]]:
    """Cutovers with each engine. The engine strimzi needs kube-apiserver, see tests/support/kubernetes.sh."""
    return engines.measure(FOLDER / "engines-lab", say)


def bench_srm() -> list[dict[str, Any]]:
    """Enabling an already enabled pair through Cloudera Manager."""
    return srm.measure(FOLDER / "srm-lab", say)


def bench_readiness() -> list[dict[str, Any]]:
    """Readiness of a large pair. It starts a larger lab itself, and removes it."""
    return readiness.measure(FOLDER / "readiness-lab", say)


def bench_scale() -> list[dict[str, Any]]:
    """Every procedure on a large pair and on a small one."""
    return scale.measure(FOLDER / "scale-lab", say)


def bench_middle() -> list[dict[str, Any]]:
    """Cutovers and failbacks of a middle-sized pair."""
    return scale.measure_moves(FOLDER / "middle-lab", say)


def bench_audit() -> list[dict[str, Any]]:
    """The comparison record by record. Only brokers and Spark run meanwhile."""
    with _brokers() as (lab, jars):
        return audit.measure(FOLDER / "audit", lab.info()["clusters"], jars, say)


def bench_audit_large() -> list[dict[str, Any]]:
    """The same for 50 million records, and for a small pair."""
    with _brokers() as (lab, jars):
        return audit_large.measure(lab, FOLDER / "audit-large", jars, say)


@contextmanager
def _brokers() -> Iterator[tuple[Lab, Path]]:
    """A lab without workers, and the folder with Kafka's jars."""
    lab = Lab(FOLDER / "audit-lab")
    try:
        lab.up(fresh=True)
        for alias in ("P", "B"):
            lab.stop(alias, "connect")
        yield lab, sorted(default_cache().glob("jars-*/"))[0]
    finally:
        lab.down(wipe=True)


PARTS = {
    "topics": bench_topics,
    "cutoff": bench_cutoff,
    "translate": bench_translate,
    "identity_failback": bench_identity,
    "disaster": bench_disaster,
    "engines": bench_engines,
    "srm": bench_srm,
    "readiness": bench_readiness,
    "scale": bench_scale,
    "middle": bench_middle,
    "audit": bench_audit,
    "audit_large": bench_audit_large,
}


def main() -> int:
    """Run the requested parts."""
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("--only", default="", help="names that begin with this")
    only = parser.parse_args().only
    wanted = [part for part in PARTS if part.startswith(only) or only.startswith(f"{part}.")]
    if not wanted:
        parser.error(f'nothing begins with "{only}"; there are: {", ".join(PARTS)}')
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / "results.json"
    kept = json.loads(target.read_text()) if target.exists() else []
    rows: list[dict[str, Any]] = []
    for part in wanted:
        load = round(os.getloadavg()[0], 1)
        say(f"{part}: begins, load {load} on {os.cpu_count()} cores")
        where = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "load": load, "machine": machine()}
        rows += [{**row, **where} for row in PARTS[part]()]
    kept = [row for row in kept if row["name"].split(".")[0] not in wanted]
    target.write_text(json.dumps(kept + rows, indent=2) + "\n")
    target.with_suffix(".md").write_text(page(kept + rows))
    show(rows)
    return 0


def machine() -> dict[str, Any]:
    """What a figure depends on besides the code."""
    named = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "cpu": named[1].strip() if named else platform.machine(),
        "memory_gib": round(memory / 2**30, 1),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "kafka": KAFKA_VERSION,
    }


def page(rows: list[dict[str, Any]]) -> str:
    """A page for people: a table for each machine and day."""
    days: dict[str, list[str]] = {}
    for row in rows:
        value, baseline, ratio = (_cell(row[key]) for key in ("value", "baseline", "ratio"))
        line = f"| `{row['name']}` | {value} | {row['unit']} | {baseline} | {ratio} | {row.get('load', 'not known')} |"
        days.setdefault(_where(row), []).append(line)
    head = ["| name | value | unit | baseline | ratio | load before |", "|---|---|---|---|---|---|"]
    parts = [text for where, lines in days.items() for text in (f"## {where}", "", *head, *lines, "")]
    return "\n".join(["# Results of make bench", "", *parts])


def _where(row: dict[str, Any]) -> str:
    if "machine" not in row:
        return "Machine and date not known"
    one = row["machine"]
    what = f"{one['cores']} cores of {one['cpu']}, {one['memory_gib']} GiB, {one['kernel']}"
    return f"{row['at'][:10]}: {what}, Python {one['python']}, Kafka {one['kafka']}"


def show(rows: list[dict[str, Any]]) -> None:
    """A table for people."""
    print(f"\n{'name':<34}{'value':>10} {'unit':<6}{'baseline':>10}{'ratio':>8}")
    for row in rows:
        value, baseline, ratio = (_cell(row[key]) for key in ("value", "baseline", "ratio"))
        print(f"{row['name']:<34}{value:>10} {row['unit']:<6}{baseline:>10}{ratio:>8}")


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Print one line with the seconds since the start."""
    print(f"[{time.monotonic() - _BEGAN:6.1f} s] {text}", flush=True)


if __name__ == "__main__":
    end_all_on_signals()
    sys.exit(main())
