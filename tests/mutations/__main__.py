# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make mutations: change the safety core in one place at a time, and name the changes that no unit test detects.

Each mutant runs in a forked process, with the unit tests that import its file directly or through one other file.
``--count=N`` takes a random sample, ``--seed=N`` repeats one. ``--only=WORD`` selects the mutants whose file and line
(``offsets/spans.py:42``) contain it. It exits with 1 if a mutant survives that ``equivalents.py`` does not name.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/support", "tests/mutations")]

from equivalents import EQUIVALENTS  # noqa: E402 - beside the path above
from mutants import Mutant, compiled, mutants  # noqa: E402 - beside the path above

from import_closure import COLLECTION, imported  # noqa: E402 - beside the path above

FOLDER = ROOT / "build" / "mutations"
UTILS = ROOT / "plugins" / "module_utils"
TARGETS = (
    "_core/offsets/*.py",
    "_core/checks/*.py",
    "_core/journal/*.py",
    "_pair/offsets/identity_offsets.py",
    "_pair/offsets/prefixed_offsets.py",
)
#: Imports between a test and a mutated file. Further away, a test says nothing about the file.
REACH = 2
#: Random worlds and examples for each mutant: enough to detect most, few enough for thousands of mutants.
WORLDS, EXAMPLES = "300", 30
#: Imported once, before the forks.
HEAVY = (
    "ansible.module_utils.basic",
    "confluent_kafka.admin",
    "http.server",
    "hypothesis.strategies",
    "jinja2",
    "pytest",
    "yaml",
)
IMPORTED = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
#: Longer than any run on a slow machine. A mutant that computes for ever is stopped by its processor time.
HANGING = 900.0
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


@dataclass
class Results:
    """What became of each mutant."""

    outcomes: dict[Mutant, str] = field(default_factory=dict)

    def survivors(self) -> list[Mutant]:
        """Return those that no test detects and no reason excuses."""
        return [mutant for mutant, outcome in self.outcomes.items() if outcome == SURVIVED and not reason(mutant)]

    def table(self) -> str:
        """Count by package, then name each survivor."""
        counts = Counter(
            (place(mutant.path).rpartition("/")[0], "equivalent" if outcome == SURVIVED and reason(mutant) else outcome)
            for mutant, outcome in self.outcomes.items()
        )
        columns = (KILLED, TIMED_OUT, "equivalent", SURVIVED)
        rows = [f"{'package':<16}" + "".join(f"{name:>12}" for name in columns)]
        for package in sorted({package for package, _outcome in counts}):
            rows.append(f"{package:<16}" + "".join(f"{counts[package, name]:>12}" for name in columns))
        return "\n".join([*rows, "", *(f"{SURVIVED}: {shown(mutant)}" for mutant in self.survivors())])


def place(path: Path) -> str:
    return str(path.relative_to(UTILS))


def shown(mutant: Mutant) -> str:
    return f"{place(mutant.path)}:{mutant.line} {mutant.scope}: {mutant.change}"


def reason(mutant: Mutant) -> str:
    return EQUIVALENTS.get((place(mutant.path), mutant.scope), {}).get(mutant.change, "")


def unit_tests() -> dict[Path, list[str]]:
    """Return the unit tests of each file of the collection, nearest first."""
    imports: dict[Path, list[Path]] = {}

    def files(path: Path) -> list[Path]:
        if path not in imports:
            imports[path] = [file for file in imported(path) if file.is_file()]
        return imports[path]

    nearest: dict[Path, list[tuple[int, bool, str]]] = {}
    for test in sorted((ROOT / "tests" / "unit").rglob("test_*.py")):
        distances, pending = {test: 0}, [test]
        while pending:
            path = pending.pop(0)
            for file in files(path):
                if file not in distances:
                    distances[file] = distances[path] + 1
                    pending.append(file)
        for file, distance in distances.items():
            nearest.setdefault(file, []).append((distance, test.stem != f"test_{file.stem}", str(test)))
    return {
        file: [path for distance, _other, path in sorted(rows) if distance <= max(REACH, min(rows)[0])]
        for file, rows in nearest.items()
    }


def run_tests(mutant: Mutant | None, paths: list[str], seconds: int | None, log: Path) -> None:
    """Run files of tests in this forked process, against a mutant, and end it with pytest's first exit code but 0.

    ``seconds``: processor time after which the process is killed.
    """
    os.setsid()
    with log.open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    if mutant is not None:
        _import_as(mutant)
    import hypothesis
    import pytest

    class Few:
        """Replaces the profile of tests/unit/conftest.py."""

        def pytest_configure(self) -> None:
            hypothesis.settings.register_profile(
                "mutations",
                deadline=None,
                database=None,
                derandomize=True,
                max_examples=EXAMPLES,
                phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
            )
            hypothesis.settings.load_profile("mutations")

    options = ["-x", "-q", "--tb=short", "-p", "no:cacheprovider", "-W", IMPORTED, f"--basetemp={log}.files"]
    code = next((code for path in paths if (code := pytest.main([*options, path], plugins=[Few()]))), 0)
    sys.stdout.flush()
    os._exit(int(code))


def _import_as(mutant: Mutant) -> None:
    """Let the mutated file be imported instead of its original."""
    name = COLLECTION + ".".join(mutant.path.relative_to(ROOT).with_suffix("").parts)
    code, original = compiled(mutant), SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> object:
        return code if fullname == name else original(loader, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]


def measured(path: str, log: Path) -> float:
    """Run a file of tests without a mutant: they must pass. Return their processor time, which limits the mutants."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = FORK.Process(target=run_tests, args=(None, [path], None, log))
    process.start()
    process.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.exitcode:
        sys.exit(f"{log.read_text(encoding='utf-8')}\n{path} fails without a mutant")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


FORK = multiprocessing.get_context("fork")


def run(chosen: list[Mutant], jobs: int) -> Iterator[tuple[Mutant, str]]:
    """Yield the outcome of each mutant, in the order in which their tests end."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    nearest = unit_tests()
    times: dict[str, float] = {}
    pending = chosen[::-1]
    running: dict[int, tuple[ForkProcess, Mutant, float, Path]] = {}
    while pending or running:
        while pending and len(running) < jobs:
            mutant = pending.pop()
            paths, log = nearest[mutant.path], FOLDER / f"log-{len(pending)}"
            times |= {path: measured(path, FOLDER / "log") for path in paths if path not in times}
            seconds = round(3 * sum(times[path] for path in paths)) + 10
            process = FORK.Process(target=run_tests, args=(mutant, paths, seconds, log))
            process.start()
            running[process.sentinel] = (process, mutant, time.monotonic() + HANGING, log)
        until = min(row[2] for row in running.values())
        ended = wait(list(running), max(0.0, until - time.monotonic()))
        for sentinel in [key for key, row in running.items() if key in ended or row[2] <= time.monotonic()]:
            process, mutant, _until, log = running.pop(sentinel)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid or 0, signal.SIGKILL)
            process.join()
            log.unlink(missing_ok=True)
            shutil.rmtree(f"{log}.files", ignore_errors=True)
            code = process.exitcode or 0
            yield mutant, KILLED if code > 0 else TIMED_OUT if code < 0 else SURVIVED


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="a word that the file and line contain")
    parser.add_argument("--count", type=int, help="mutants in a random sample; without it, all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="of the sample")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ.setdefault("KAFKA_DR_WORLDS", WORLDS)
    for name in HEAVY:
        importlib.import_module(name)
    every = [mutant for pattern in TARGETS for path in sorted(UTILS.glob(pattern)) for mutant in mutants(path)]
    known = {(place(mutant.path), mutant.scope, mutant.change) for mutant in every}
    if outdated := [text for where, texts in EQUIVALENTS.items() for text in texts if (*where, text) not in known]:
        sys.exit(f"equivalents.py names changes that are no mutants: {'; '.join(outdated)}")
    chosen = [mutant for mutant in every if options.only in f"{place(mutant.path)}:{mutant.line} "]
    if options.count is not None and options.count < len(chosen):
        chosen = random.Random(options.seed).sample(chosen, options.count)
        print(f"{options.count} of {len(every)} mutants, SEED={options.seed}", flush=True)
    results = Results()
    begin = time.monotonic()
    for mutant, outcome in run(chosen, options.jobs):
        results.outcomes[mutant] = outcome
        print(f"{len(results.outcomes)}/{len(chosen)} {outcome}: {shown(mutant)}", flush=True)
    report = {shown(mutant): outcome for mutant, outcome in results.outcomes.items()}
    (FOLDER / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    print(f"\n{results.table()}\n{len(chosen)} mutants in {time.monotonic() - begin:.0f} s")
    return 1 if results.survivors() else 0


if __name__ == "__main__":
    sys.exit(main())
