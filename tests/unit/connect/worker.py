# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real HTTP server that plays a Kafka Connect worker."""

from __future__ import annotations

from typing import Any

from ansible_collections.switchback.kafka_dr.tests.support.scripted import ScriptedServer


class ScriptedWorker(ScriptedServer):
    """A scripted worker. Its errors have Kafka Connect's JSON form, unless their content names a servlet."""

    def sent(self, status: int, content: Any) -> tuple[int, Any]:
        own = status >= 400 and isinstance(content, dict) and "servlet" not in content
        return status, {"error_code": status, **content} if own else content
