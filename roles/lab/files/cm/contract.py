# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine interface, and the engine without Kafka."""

from __future__ import annotations

from typing import Any, Protocol

from .state import Service, Store


class Engine(Protocol):
    """Runs the flows of a service. Each method may block."""

    def begin(self, store: Store) -> None: ...

    def stop(self, service: Service) -> None: ...

    def start(self, service: Service) -> None: ...

    def deploy(self, service: Service) -> None: ...

    def healthy(self, service: Service) -> bool | None: ...

    def report(self) -> dict[str, Any]: ...


class NoEngine:
    """An engine without Kafka: commands only take time."""

    def begin(self, store: Store) -> None: ...

    def stop(self, service: Service) -> None: ...

    def start(self, service: Service) -> None: ...

    def deploy(self, service: Service) -> None: ...

    def healthy(self, service: Service) -> bool | None:
        return None

    def report(self) -> dict[str, Any]:
        return {}
