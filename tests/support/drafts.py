# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook discover on an enabled pair."""

from __future__ import annotations

from typing import Any

import yaml

from scenario import Scenario


def drafted(pair: Scenario) -> dict[str, Any]:
    """Run discover beside the complete inventory, require that it could read everything, and return its draft."""
    file = pair.folder / "discovered.yml"
    done = pair.playbook("discover", {"kafka_dr_discover_file": str(file), "kafka_dr_discover_overwrite": True})
    output = " ".join(done["output"].split())
    assert "No drift from the inventory." in output, output[-3000:]
    assert "could not be read" not in output
    draft: dict[str, Any] = yaml.safe_load(file.read_text())
    return draft
