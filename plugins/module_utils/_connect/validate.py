# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that need requests and run before the first connector is written.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .._core.errors import DrError
from .._core.kafka_versions import too_old
from .._core.names import CONNECTORS
from .._core.redaction import is_secret, without_forms
from .._core.resources.connector_settings import PRODUCER, unknown_settings, unsafe_settings
from .connector_client import ConnectorClient
from .mirror import FlowSpec
from .planning import DesiredConnector, merged_config, rivals
from .rest import PACKAGE, Connector

__all__ = ["check_existing", "check_place", "field_errors", "overrides_refused", "require_version", "validate"]


def require_version(rest: ConnectorClient, reported: str) -> None:
    """Raise ``connect_too_old`` if workers of this version cannot run a flow."""
    if too_old(reported):
        raise DrError(
            "connect_too_old",
            f'The Kafka Connect workers at "{rest.url}" run {reported}, wanted Kafka 3.7 or later.',
            "Upgrade these workers, or run the flow on others. Their brokers may be older. Workers before 3.7 cannot"
            " create a stopped connector (KIP-980), and those before 3.6 cannot report offsets (KIP-875).",
            rest.url,
        )


def check_place(rest: ConnectorClient, spec: FlowSpec, configured: bool) -> None:
    """Raise ``wrong_connect_cluster`` if the workers belong to another cluster than the target of the flow.

    They would write the replicas to their own cluster. ``configured``: the flow is to be configured, so also raise
    ``connect_too_old``. Workers of any version can stop one.
    """
    wanted, refused = spec.target.cluster_id, spec.source.cluster_id
    if not (wanted or refused) or _redirected(spec):
        return
    found, version = rest.about()
    if (wanted and found != wanted) or (refused and found == refused):
        raise DrError(
            "wrong_connect_cluster",
            f'The Kafka Connect workers at "{rest.url}" belong to cluster "{found}", but the flow needs those of its '
            f'target "{spec.target.alias}"{f" ({wanted})" if wanted else ""}.',
            f"Correct connect_url of {spec.target.alias} in kafka_dr_clusters: a source connector writes to the cluster"
            " of its workers.",
            rest.url,
        )
    if configured:
        require_version(rest, version)


def _redirected(spec: FlowSpec) -> bool:
    return "producer.override.bootstrap.servers" in spec.given("source")


def check_existing(
    spec: FlowSpec,
    all_desired: Iterable[DesiredConnector],
    connectors: Mapping[str, Connector],
    leaving: Collection[str] = (),
) -> None:
    """Raise if another connector runs the same flow, or if a connector has settings that invalidate the proofs.

    ``leaving``: names of connectors that will be stopped before ours start. Raises ``flow_runs_twice`` or
    ``connector_unsafe``.
    """
    # Other applications may have their own flows beside the flow of one application, but not beside a pair's.
    topics = spec.topics if spec.application else ()
    others = {
        name: desired
        for desired in all_desired
        if desired.state == "running"
        for name in rivals(desired, topics, connectors)
        if name not in leaving
    }
    if others:
        raise _runs_twice(spec, others, any(desired.name in connectors for desired in others.values()))
    for desired in all_desired:
        actual = connectors.get(desired.name)
        if actual is None or not desired.configured:
            continue
        kept = {key: value for key, value in actual.config.items() if key not in desired.config}
        problems = unsafe_settings(kept, spec.target.brokers)
        if problems:
            raise DrError(
                "connector_unsafe",
                f'The connector "{desired.name}" has unsafe settings that the inventory does not declare.'
                f" {' '.join(problems)}",
                f"To remove a setting, set it to null in {desired.part}_settings of kafka_dr_flow.",
            )


def _runs_twice(spec: FlowSpec, others: Mapping[str, DesiredConnector], beside: bool) -> DrError:
    """``others``: by the name of another connector, the one of ours that does the same work.

    ``beside``: ours exists, so it continues from its own offsets.
    """
    name, ours = next(iter(others.items()))
    listed = ", ".join(others)
    stop = f"Stop each of these connectors (PUT /connectors/NAME/stop): {listed}. Then start the same playbook again"
    if spec.naming.starts_at_cut:
        hint = (
            f"{stop}: with the policy identity, enable finds by content where the flow starts, and replicates no record"
            " twice."
        )
    elif beside:
        hint = (
            f"{stop}: {ours.name} exists and continues from its own offsets. If the others have filled the replicas,"
            " name them in kafka_dr_adopt instead."
        )
    else:
        hint = (
            f"{ours.name} was not started. Name the other connectors ({listed}) in kafka_dr_adopt and run enable, which"
            f" takes over their offsets (docs/procedures/enable.md). If you only stop or delete them, {ours.name}"
            " replicates everything again."
        )
    return DrError(
        "flow_runs_twice",
        f'The connector "{name}" already runs the {ours.part} part of {ours.name.split(".Mirror")[0]}. Two such'
        " connectors would replicate every record twice.",
        hint,
    )


def validate(
    rest: ConnectorClient, spec: FlowSpec, all_desired: Iterable[DesiredConnector], connectors: Mapping[str, Connector]
) -> list[str]:
    """Let the worker validate every configuration that will be written. Return warnings.

    Raises ``settings_invalid`` with all errors, or ``connector_class_missing``.
    """
    plugins = rest.plugins()
    problems: list[str] = []
    warnings: list[str] = []
    for desired in all_desired:
        plugin = PACKAGE + CONNECTORS[desired.part]
        if plugin not in plugins:
            raise _plugin_missing(rest, plugin, plugins)
        answer = rest.validate(plugin, merged_config(desired, connectors.get(desired.name)))
        _require_overrides(rest, desired, answer)
        problems += [f"{desired.name}: {text}" for text in field_errors(answer)]
        names = [str((item.get("definition") or {}).get("name")) for item in answer.get("configs", [])]
        for key, near in unknown_settings(spec.given(desired.part), names):
            text = f'The setting "{key}" is unknown and has no effect.' + (f' Did you mean "{near}"?' if near else "")
            (problems if near else warnings).append(text)
    if problems:
        hint = "No connector of this flow was changed. Correct the named settings in kafka_dr_flow."
        raise DrError("settings_invalid", " ".join(dict.fromkeys(problems)), hint, rest.url)
    return list(dict.fromkeys(warnings))


def _require_overrides(rest: ConnectorClient, desired: DesiredConnector, answer: Mapping[str, Any]) -> None:
    """Raise ``overrides_refused`` if the worker refuses the producer settings that carry a proof (R38).

    Their values are valid, so the only reason is the worker's policy (ConnectorClientConfigOverridePolicy).
    """
    values = [item.get("value") or {} for item in answer.get("configs", [])]
    texts = {str(value.get("name")): value.get("errors") or [] for value in values}
    refused = [key for key in PRODUCER if texts.get(key)]
    if refused:
        raise overrides_refused(desired.name, refused, str(texts[refused[0]][0]), rest.url)


def overrides_refused(name: str, keys: Sequence[str], reason: str, url: str) -> DrError:
    """The error for workers that do not let the connector ``name`` set ``keys``."""
    return DrError(
        "overrides_refused",
        f'The Kafka Connect workers do not accept {", ".join(keys)} in the connector "{name}": {reason}',
        "The order of replication is then what the file of these workers says, which cannot be read, so no move would"
        " be proven. Set connector.client.config.override.policy=All (the default) in the file of each worker, restart"
        " it, then start the same playbook again.",
        url,
    )


def field_errors(answer: Mapping[str, Any]) -> list[str]:
    """Return the errors of a validation by setting. The error text of a secret setting is left out."""
    found = []
    for item in answer.get("configs", []):
        value = item.get("value") or {}
        name = str(value.get("name"))
        texts = [str(text) for text in value.get("errors") or []]
        if texts:
            found.append(f'"{name}": {"not accepted" if is_secret(name) else without_forms(" ".join(texts))}')
    return found


def _plugin_missing(rest: ConnectorClient, plugin: str, plugins: Iterable[str]) -> DrError:
    mirror = sorted(name for name in plugins if name.startswith(PACKAGE))
    has = ", ".join(mirror) if mirror else "no connector of MirrorMaker 2"
    return DrError(
        "connector_class_missing",
        f'The Kafka Connect workers at "{rest.url}" do not have the class "{plugin}"; they have {has}.',
        "Install connect-mirror and connect-mirror-client of the worker's version on the plugin path of each worker.",
        rest.url,
    )
