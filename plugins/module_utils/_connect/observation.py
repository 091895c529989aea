# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the MirrorMaker 2 connectors of a worker group, and wait for their states.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .._core.errors import DrError
from .._core.waiting import Bounds, wait_until
from .._module import Result
from .connector_client import ConnectorClient
from .http import RefusedError
from .offsets import parse_offsets
from .planning import masked
from .rest import Connector
from .watching import describe

__all__ = ["Filter", "observe"]


@dataclass(frozen=True)
class Filter:
    """Selects connectors by aliases and parts. An alias of None accepts any alias."""

    source: str | None
    target: str | None
    parts: tuple[str, ...]

    def accepts(self, connector: Connector) -> bool:
        """True for a MirrorMaker 2 connector of these parts and aliases, with any name."""
        aliases = _aliases(connector)
        wanted = (self.source, self.target)
        return connector.part in self.parts and all(
            want in (None, has) for want, has in zip(wanted, aliases, strict=True)
        )


def observe(rest: ConnectorClient, wanted: Filter, wait_for: str, offsets: bool, bounds: Bounds) -> Result:
    """Read the connectors that ``wanted`` accepts, after all of them have reached a state.

    ``wait_for``: ``running``, ``stopped`` or ``none``. ``offsets``: also read the stored offsets of source connectors.
    If the wait ends without the state, the result has the failure ``connector_not_ready``.
    """
    result = Result(requests=rest.requests)
    connectors = _accepted(rest, wanted)
    if wait_for != "none":
        connectors, result.failure = _wait(rest, wanted, wait_for, bounds, connectors)
    result.extra["connectors"] = [_shown(rest, connector, offsets) for connector in connectors]
    return result


def _accepted(rest: ConnectorClient, wanted: Filter) -> list[Connector]:
    return [connector for _name, connector in sorted(rest.connectors().items()) if wanted.accepts(connector)]


def _wait(
    rest: ConnectorClient, wanted: Filter, wait_for: str, bounds: Bounds, first: list[Connector]
) -> tuple[list[Connector], DrError | None]:
    seen = [first]

    def observe() -> list[Connector]:
        seen[0] = _accepted(rest, wanted)
        return seen[0]

    waited = wait_until(
        observe,
        lambda found: _reached(found, wait_for),
        bounds,
        lambda found: [_state(connector) for connector in found],
        fallback=lambda: seen[0],
    )
    if waited.done:
        return waited.state, None
    states = "; ".join(describe(connector.name, connector) for connector in seen[0]) or "no such connector"
    text = (
        f"Not every connector is {wait_for} after {waited.seconds:.0f} s. Last observed: {states}.{waited.last_error}"
    )
    hint = "Check the named tasks and the log of their worker, then start the same playbook again."
    return seen[0], DrError("connector_not_ready", text, hint, rest.url)


def _reached(found: Sequence[Connector], wait_for: str) -> bool:
    return bool(found) and all(item.running if wait_for == "running" else item.stopped for item in found)


def _state(connector: Connector) -> tuple[Any, ...]:
    return connector.name, connector.state, connector.tasks


def _aliases(connector: Connector) -> tuple[str | None, str | None]:
    # The defaults of MirrorConnectorConfig.
    config = connector.config
    return config.get("source.cluster.alias"), config.get("target.cluster.alias", "target")


def _shown(rest: ConnectorClient, connector: Connector, offsets: bool) -> dict[str, Any]:
    source, target = _aliases(connector)
    return {
        "name": connector.name,
        "part": connector.part,
        "source": source,
        "target": target,
        "state": connector.state,
        "trace": connector.trace,
        "tasks": [asdict(task) for task in connector.tasks],
        "final": connector.stopped,
        "config": masked(connector.config),
        "offsets": _offsets(rest, connector, source) if offsets and connector.part == "source" else None,
    }


def _offsets(rest: ConnectorClient, connector: Connector, source: str | None) -> list[dict[str, Any]] | None:
    try:
        answer = rest.offsets(connector.name)
    except RefusedError as error:
        if error.status == 404:
            return None
        raise
    stored = parse_offsets(answer, source)
    return [{"topic": topic, "partition": index, "offset": offset} for (topic, index), offset in sorted(stored.items())]
