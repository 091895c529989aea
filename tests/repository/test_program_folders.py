# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of the lab are folders that Python runs."""

from __future__ import annotations

import sys

from repository import files


def test_no_file_has_the_name_of_a_module_that_python_needs() -> None:
    """Python puts the folder that it runs on its path first. ``operator.py`` there ended the start of ``pathlib``."""
    names = {path.stem for path in files("roles/lab/files/*/*.py")}
    # Python imports its own site before it changes its path.
    assert (names - {"site"}) & sys.stdlib_module_names == set()
