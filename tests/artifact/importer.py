# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Galaxy's importer with more time for ansible-lint: it gives 180 s, which a machine with other work may exceed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from galaxy_importer import main
from galaxy_importer.loaders import collection

SECONDS = 900


class PatientPopen(subprocess.Popen[bytes]):
    """A process with a longer bound than its caller asks for."""

    def communicate(self, *given: Any, **named: Any) -> tuple[Any, Any]:
        """Wait up to ``SECONDS``."""
        return super().communicate(*given, **{**named, "timeout": SECONDS})


collection.Popen = PatientPopen
sys.exit(main.main())
