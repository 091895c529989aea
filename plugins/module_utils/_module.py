# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared code of all modules: argument specs that can be merged, and the format of results and errors.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.parameters import remove_values
from ansible.module_utils.common.validation import check_type_dict

from ._core.changes import Outcome, diff_of
from ._core.compressed import compress_at, dropped_at, expand, json_text
from ._core.errors import DrError, with_alias
from ._core.redaction import may_have_forms, names_of, redacted, secrets_of, without_forms
from ._core.run.events import RunEvent
from ._core.waiting import Bounds
from ._record import RunRecord

__all__ = [
    "ArgumentSpec",
    "Result",
    "bounds_of",
    "cm_options",
    "compress_options",
    "connect_options",
    "kafka_options",
    "record_options",
    "run",
    "wait_options",
]

# Characters of an option that a result repeats as its invocation. A longer one holds rows of partitions.
_SHOWN = 20_000
_RULES = ("mutually_exclusive", "required_together", "required_one_of", "required_if")


class ArgumentSpec:
    """Options, and the rules between them. ``rules``: keyword arguments of AnsibleModule, such as required_if."""

    def __init__(self, options: Mapping[str, Any] | None = None, **rules: list[Any]) -> None:
        unknown = set(rules) - set(_RULES)
        if unknown:
            raise ValueError(f"unknown rules: {sorted(unknown)}")
        self.options: dict[str, Any] = dict(options or {})
        self.rules: dict[str, list[Any]] = {name: list(rules.get(name, [])) for name in _RULES}

    def merge(self, *others: ArgumentSpec) -> ArgumentSpec:
        """Return a new spec with the options and rules of all. Raises ValueError if a name is defined twice."""
        merged = self
        for other in others:
            twice = set(merged.options) & set(other.options)
            if twice:
                raise ValueError(f"options defined twice: {sorted(twice)}")
            rules = {name: merged.rules[name] + other.rules[name] for name in _RULES}
            merged = ArgumentSpec({**merged.options, **other.options}, **rules)
        return merged

    def create_module(self, supports_check_mode: bool = True) -> AnsibleModule:
        """Create the AnsibleModule. It masks secrets in free-form dictionaries before it can fail or log."""
        # A deep copy, because Ansible fills suboptions into the default of their option, in place.
        options = deepcopy(self.options)
        return _Module(argument_spec=options, supports_check_mode=supports_check_mode, **self.rules)


class _Module(AnsibleModule):  # type: ignore[misc]  # Ansible has no types
    """Takes compressed rows, and neither logs nor returns the rows that it was given.

    Masks secrets in free-form dictionaries too, because the constructor of AnsibleModule logs and returns all arguments
    (R44).
    """

    params: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Rows within a free-form dictionary. Ansible would check and copy each of them.
        self.params = expand(self.params)

    def _load_params(self) -> None:
        super()._load_params()
        # An option that is compressed as a whole has a type.
        self.params = {name: expand(value) if isinstance(value, str) else value for name, value in self.params.items()}
        # Before the arguments are checked: a refusal returns them, too.
        self.no_log_values |= secrets_of({name: self._parsed(name, value) for name, value in self.params.items()})

    def _parsed(self, name: str, value: Any) -> Any:
        """A dictionary that was given as text, in JSON or as key=value."""
        if not isinstance(value, str) or self.argument_spec.get(name, {}).get("type") != "dict":
            return value
        try:
            return check_type_dict(value)
        except TypeError:
            return value

    def _log_invocation(self) -> None:
        given, self.params = self.params, self._shown()
        super()._log_invocation()
        self.params = given

    def warn(self, warning: str, *args: Any, **kwargs: Any) -> None:
        """Add a warning to the result, without secrets: Ansible may show it at once."""
        super().warn(remove_values(without_forms(warning), self.no_log_values), *args, **kwargs)

    def _return_formatted(self, kwargs: dict[str, Any]) -> None:
        super()._return_formatted({"invocation": {"module_args": self._shown()}, **unformed(kwargs)})

    def _shown(self) -> dict[str, Any]:
        names = names_of(self.params)
        short = {name: _short(value) for name, value in self.params.items()}
        return {name: redacted({name: value}, (), names)[name] for name, value in short.items()}


def _short(value: Any) -> Any:
    if not isinstance(value, (list, dict)):
        return value
    characters = len(json.dumps(value, default=str))
    return value if characters <= _SHOWN else f"({characters} characters)"


def unformed(value: Any) -> Any:
    """Mask logins in addresses and the like in all texts of a value (R44)."""
    if isinstance(value, dict):
        return {key: unformed(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [unformed(inner) for inner in value]
    return without_forms(value) if isinstance(value, str) else value


@dataclass
class Result:
    """The result of a module."""

    #: One outcome for each change.
    outcomes: list[Outcome] = field(default_factory=list)
    #: Return values that only this module has.
    extra: dict[str, Any] = field(default_factory=dict)
    #: Requests that were sent, without secrets.
    requests: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    #: Error with which the module fails, in spite of its results.
    failure: DrError | None = None

    @property
    def changed(self) -> bool:
        """True if something was changed or, in check mode, would be changed."""
        return any(outcome.status in ("planned", "done") for outcome in self.outcomes)


def run(module: AnsibleModule, work: Callable[[AnsibleModule], Result], compressed: Sequence[str] = ()) -> None:
    """Call ``work``, and exit the module with its result or error in the collection's format.

    ``compressed``: paths of return values with rows of partitions, such as "status.flows.*.partitions". They are
    compressed, unless the module has the option ``compress`` and it is false.
    """
    # If the garbage collector finds a Kafka client in a callback of that client's own thread, the process aborts:
    # librdkafka cannot close a client there (confluent-kafka-python pull requests 2129, 2131). So only waits collect.
    gc.disable()
    try:
        result = work(module)
    except DrError as error:
        _name_cluster(error, module.params)
        _keep(module, {"failed": True, "msg": error.sentence(), "error": error.as_dict()})
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
    if module.params.get("record") and module.params.get("step"):
        # The record has them.
        for path in compressed:
            answer = dropped_at(answer, path.split("."))
    elif module.params.get("compress", True):
        for path in compressed:
            answer = compress_at(answer, path.split("."), lambda rows: _without(module.no_log_values, rows))
    if result.failure is None:
        _keep(module, result.extra)
    else:
        _name_cluster(result.failure, module.params)
        failed = {"failed": True, "msg": result.failure.sentence(), "error": result.failure.as_dict()}
        _keep(module, {**result.extra, **failed})
        module.fail_json(msg=result.failure.sentence(), error=result.failure.as_dict(), **answer)
    module.exit_json(**answer)


def _without(secrets: Iterable[str], rows: Any) -> str:
    """Return the rows as JSON text, masked like every other return value: Ansible cannot see into compressed rows."""
    return json_text(_masked(secrets, rows))


def _masked(secrets: Iterable[str], rows: Any) -> Any:
    """Return the rows without secrets."""
    text = json.dumps(rows, default=str)
    # Both kinds of masking take longer than everything else, and hardly any rows have a secret.
    if may_have_forms(text):
        rows = unformed(rows)
        text = json.dumps(rows, default=str)
    return remove_values(rows, secrets) if any(json.dumps(secret)[1:-1] in text for secret in secrets) else rows


def _keep(module: AnsibleModule, result: Mapping[str, Any]) -> None:
    """Append the result of a step to the record of its run, without secrets, if the task names one."""
    folder, step = (module.params.get(name) for name in ("record", "step"))
    if folder and step:
        kept = _masked(module.no_log_values, dict(result))
        try:
            RunRecord(folder).append(RunEvent("returned", time.time(), {"step": step, "result": kept}))
        except DrError as error:
            module.fail_json(msg=error.sentence(), error=error.as_dict())


def _name_cluster(error: DrError, params: Mapping[str, Any]) -> None:
    """Add the cluster's alias to a message that names only its address."""
    pair = params.get("pair")
    clusters = pair.get("clusters") if isinstance(pair, Mapping) else params.get("clusters")
    if isinstance(clusters, Mapping):
        error.message = with_alias(error.message, error.endpoint, clusters)


def kafka_options() -> ArgumentSpec:
    """Options of the connection to one Kafka cluster. The documentation fragment ``kafka`` describes them."""
    return ArgumentSpec(
        {
            "bootstrap_servers": {"type": "str", "required": True},
            "client": {"type": "dict", "default": {}},
            "expected_cluster_id": {"type": "str"},
            "request_timeout": {"type": "float", "default": 15.0},
        }
    )


def connect_options() -> ArgumentSpec:
    """Options of the connection to one Kafka Connect worker group. The fragment ``connect`` describes them."""
    return ArgumentSpec(
        {
            "connect_url": {"type": "str", "required": True},
            "connect_client": {"type": "dict", "default": {}},
            "request_timeout": {"type": "float", "default": 15.0},
        }
    )


def cm_options() -> ArgumentSpec:
    """Options of the connection to one service of a Cloudera Manager. The fragment ``cm`` describes them."""
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
    """Options of the time limits of a wait. The fragment ``wait`` describes them, for Cloudera Manager ``cm.bounds``.

    ``timeout``: seconds for the whole wait. ``stall``: seconds without progress, 0: no limit. ``sleep``: seconds
    between two observations.
    """
    return ArgumentSpec(
        {
            "wait_timeout": {"type": "float", "default": timeout},
            "wait_sleep": {"type": "float", "default": sleep},
            "stall_timeout": {"type": "float", "default": stall},
        }
    )


def record_options() -> ArgumentSpec:
    """Options of a step of a run: the folder of its record, and the step's name there. The fragment ``record``
    describes them."""
    return ArgumentSpec({"record": {"type": "path"}, "step": {"type": "str"}})


def compress_options() -> ArgumentSpec:
    """The option ``compress``. The documentation fragment ``compress`` describes it."""
    return ArgumentSpec({"compress": {"type": "bool", "default": False}})


def bounds_of(params: Mapping[str, Any]) -> Bounds:
    """Return the time limits that the options of :func:`wait_options` set."""
    return Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])
