# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The audit as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_audit(
    plan: Path, output: Path, *more: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "kafka_dr_audit",
        str(plan),
        "--output",
        str(output),
        "--master",
        "local[2]",
        *more,
    ]
    own = {**os.environ, "PYTHONPATH": str(ROOT / "spark"), **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, env=own, timeout=500)
