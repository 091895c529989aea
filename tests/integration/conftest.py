# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One lab for all integration tests of a session. KAFKA_DR_TEST_LAB names a folder to keep it between sessions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from lab.lab import Lab
from secured import Start, start

SECURED = {path.name for path in Path(__file__).parent.glob("test_*.py") if "secure_lab" in path.read_text()}


class Files(LoadFileScheduling):
    """A process gets whole files, and one process all files that use the secured lab, so that it starts once."""

    def _split_scope(self, nodeid: str) -> str:
        file = Path(nodeid.partition("::")[0])
        return "secured" if file.name in SECURED else str(file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Files:
    return Files(config, log)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Two real clusters with a Connect worker beside each."""
    kept = os.environ.get("KAFKA_DR_TEST_LAB")
    started = Lab(Path(kept) if kept else tmp_path_factory.mktemp("lab"))
    started.up()
    yield started
    if not kept:
        started.down()


@pytest.fixture(scope="session")
def secure_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """The same lab with TLS, users and ACLs, and the processes observed while it started."""
    folder = tmp_path_factory.mktemp("secure lab")
    try:
        yield start(folder, "--secure")
    finally:
        Lab(folder, quiet=True).down()


@pytest.fixture(scope="session")
def secure_lab(secure_start: Start) -> Lab:
    return secure_start.lab
