# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every module shares: argument specs that merge, one way to run, one shape of result and of error.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ._core.changes import Outcome, diff_of
from ._core.errors import DrError, with_alias
from ._core.security import is_secret
from ._core.waiting import Bounds

__all__ = [
    "ArgumentSpec",
    "Result",
    "bounds_of",
    "cm_options",
    "connect_options",
    "kafka_options",
    "run",
    "secret_values",
    "wait_options",
]

_RULES = ("mutually_exclusive", "required_together", "required_one_of", "required_if")


class ArgumentSpec:
    """Options and the rules between them, merged from parts. A name defined twice is a programming error."""

    def __init__(self, options: Mapping[str, Any] | None = None, **rules: list[Any]) -> None:
        unknown = set(rules) - set(_RULES)
        if unknown:
            raise ValueError(f"unknown rules: {sorted(unknown)}")
        self.options: dict[str, Any] = dict(options or {})
        self.rules: dict[str, list[Any]] = {name: list(rules.get(name, [])) for name in _RULES}

    def merge(self, *others: ArgumentSpec) -> ArgumentSpec:
        """A new spec with the options and rules of all."""
        merged = self
        for other in others:
            twice = set(merged.options) & set(other.options)
            if twice:
                raise ValueError(f"options defined twice: {sorted(twice)}")
            rules = {name: merged.rules[name] + other.rules[name] for name in _RULES}
            merged = ArgumentSpec({**merged.options, **other.options}, **rules)
        return merged

    def create_module(self, supports_check_mode: bool = True) -> AnsibleModule:
        """The AnsibleModule; secrets inside free dictionaries are masked before anything can fail or is logged."""
        # Ansible fills suboptions into the default of their option, in place.
        options = deepcopy(self.options)
        return _Module(argument_spec=options, supports_check_mode=supports_check_mode, **self.rules)


class _Module(AnsibleModule):  # type: ignore[misc]  # Ansible has no types
    """Its constructor writes all arguments to syslog, where there is one: what is no secret by its option alone too."""

    def _log_invocation(self) -> None:
        self.no_log_values |= secret_values(self.params)
        super()._log_invocation()


@dataclass
class Result:
    """What a module ends with. ``extra`` are its own return keys; ``requests`` the redacted calls it made."""

    outcomes: list[Outcome] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failure: DrError | None = None

    @property
    def changed(self) -> bool:
        """True when something was, or in check mode would be, changed."""
        return any(outcome.status in ("planned", "done") for outcome in self.outcomes)


def run(module: AnsibleModule, work: Callable[[AnsibleModule], Result]) -> None:
    """Do the work and end the module, in success or failure, in the collection's one shape."""
    # A Kafka client that the collector finds in a callback of that client's own thread aborts the process (librdkafka
    # cannot end there; confluent-kafka-python pull requests 2129 and 2131). A module lives for minutes: it keeps them.
    gc.disable()
    try:
        result = work(module)
    except DrError as error:
        _name_cluster(error, module.params)
        module.fail_json(msg=error.sentence(), error=error.as_dict(), changed=False, changes=[])
        return
    for text in result.warnings:
        module.warn(text)
    answer: dict[str, Any] = {
        "changed": result.changed,
        "changes": [outcome.as_dict() for outcome in result.outcomes],
        "requests": result.requests,
        **result.extra,
    }
    if module._diff:
        answer["diff"] = diff_of(outcome.change for outcome in result.outcomes)
    if result.failure is not None:
        _name_cluster(result.failure, module.params)
        module.fail_json(msg=result.failure.sentence(), error=result.failure.as_dict(), **answer)
    module.exit_json(**answer)


def _name_cluster(error: DrError, params: Mapping[str, Any]) -> None:
    """An address alone does not show which side of the pair it is."""
    pair = params.get("pair")
    clusters = pair.get("clusters") if isinstance(pair, Mapping) else params.get("clusters")
    if isinstance(clusters, Mapping):
        error.message = with_alias(error.message, error.endpoint, clusters)


def kafka_options() -> ArgumentSpec:
    """Connection to one Kafka cluster; documented in the fragment ``kafka``."""
    return ArgumentSpec(
        {
            "bootstrap_servers": {"type": "str", "required": True},
            "client": {"type": "dict", "default": {}},
            "expected_cluster_id": {"type": "str"},
            "request_timeout": {"type": "float", "default": 15.0},
        }
    )


def connect_options() -> ArgumentSpec:
    """Connection to one Kafka Connect worker group; documented in the fragment ``connect``."""
    return ArgumentSpec(
        {
            "connect_url": {"type": "str", "required": True},
            "connect_client": {"type": "dict", "default": {}},
            "request_timeout": {"type": "float", "default": 15.0},
        }
    )


def cm_options() -> ArgumentSpec:
    """Connection to one service of a Cloudera Manager; documented in the fragment ``cm``."""
    return ArgumentSpec(
        {
            "cm_url": {"type": "str", "required": True},
            "cm_client": {"type": "dict", "default": {}},
            "cm_api_version": {"type": "str"},
            "cluster": {"type": "str", "required": True},
            "service": {"type": "str"},
            "request_timeout": {"type": "float", "default": 30.0},
        }
    )


def wait_options(timeout: float = 120.0, stall: float = 0.0, sleep: float = 0.25) -> ArgumentSpec:
    """Bounds of a wait; documented in the fragment ``wait``, those of Cloudera Manager in ``cm.bounds``."""
    return ArgumentSpec(
        {
            "wait_timeout": {"type": "float", "default": timeout},
            "wait_sleep": {"type": "float", "default": sleep},
            "stall_timeout": {"type": "float", "default": stall},
        }
    )


def bounds_of(params: Mapping[str, Any]) -> Bounds:
    """The bounds that ``wait_options`` defines."""
    return Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])


def secret_values(value: Any) -> set[str]:
    """Every text below a key whose name says that it is a secret."""
    found: set[str] = set()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, str) and inner and is_secret(str(key)):
                found.add(inner)
            else:
                found |= secret_values(inner)
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        for inner in value:
            found |= secret_values(inner)
    return found
