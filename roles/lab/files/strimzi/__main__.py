# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entry point of ``python roles/lab/files/strimzi``."""

from __future__ import annotations

import sys
from pathlib import Path

# Python puts the directory that it runs on the path. The package is importable by name from the parent directory.
if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from strimzi.cli import main

if __name__ == "__main__":
    sys.exit(main())
