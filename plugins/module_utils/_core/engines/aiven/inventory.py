# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory part of the engine ``aiven``. Opens no connection.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...resources.connector_settings import FLOW_SETTINGS
from ...resources.topic_filters import excluded_by_default
from ...schema import Key, check_mapping, check_url, nearest
from ..inventory import Capabilities, Check, EngineInventory, Refusals
from .flow_fields import SETTINGS, as_field

__all__ = ["CAPABILITIES", "INVENTORY"]

CAPABILITIES = Capabilities(
    offset_syncs_on_source=False,
    offsets_writable=False,
    offsets_outlive_flow=True,
    separate_lists=False,
    changes_restart=True,
    parts_have_states=False,
    versions_retained_by="Aiven maintains the version of its workers",
    settings_known_by="according to Aiven's API, with whose exactly-once delivery a producer keeps the order and waits"
    " for all replicas; the running connectors cannot be read",
    stop_provable=False,
    syncs_groups=False,
)
_SITE_KEYS = {
    "url": Key(default="https://api.aiven.io/v1"),
    "token": Key(),
    "project": Key(required=True),
    "service": Key(required=True),
    "kafka_project": Key(),
    "kafka_service": Key(),
    "client": Key("dict", default={}),
}
_CLIENT_KEYS = {
    **dict.fromkeys(("ca_path", "client_cert", "client_key"), Key()),
    **dict.fromkeys(("validate_certs", "use_proxy"), Key("flag")),
}
# The default of every pair. The API has no field for it.
_FREE_SETTINGS = frozenset({"heartbeats.replication.enabled"})
_UNIT = {int: "a whole number", list: "a list"}


class AivenInventory(EngineInventory):
    """A MirrorMaker 2 service at Aiven runs the flow to each cluster. One service may run both flows."""

    capabilities = CAPABILITIES
    refusals = Refusals(
        adoption="Aiven's API cannot set the stored offsets of a flow. Let the flow replicate into new topics, or use"
        ' engine "connect"',
        applications="one flow replicates all topics, and its changes affect all applications. Declare one pair for"
        " all of them",
        copy_again="Aiven's API cannot change the stored offsets of a flow, so it cannot replicate a topic again from"
        " the start. Use another topic name.",
        identity="Aiven's API cannot set the stored offsets of a flow, so a failback would replicate everything again."
        ' Use the policy "default"',
        rehearsal="one flow exists for each pair of aliases, and a rehearsal would change it while applications depend"
        " on it. Rehearse on a pair of test clusters with a service of its own",
        rebuild="Aiven's API cannot reset the stored offsets of a flow. Give the new cluster another alias, declare"
        " the pair with that alias, and run enable",
    )
    site_keys = _SITE_KEYS

    def value_checks(self) -> Sequence[Check]:
        """Check the addresses and client settings of sites."""
        return (("", _check_values),)

    def pair_checks(self) -> Sequence[Check]:
        """Check the sites, that a needed fence has its services, and that the API has a field for each setting."""
        return (
            ("clusters aiven", _check_sites),
            ("aiven fence", _check_fence),
            ("separator", _check_separator),
            ("flow", _check_tasks),
            ("flow", _check_parts),
            ("policy", _check_excluded),
        )

    def setting_problems(self, where: str, config: Mapping[str, str | None]) -> list[str]:
        """Refuse settings without a field in the API, and null, which the API cannot set."""
        texts = []
        for key, value in config.items():
            if key in _FREE_SETTINGS:
                continue
            if key not in SETTINGS:
                texts.append(
                    f'{where} sets "{key}", which has no field in Aiven\'s API. Known settings: {", ".join(SETTINGS)}.'
                    " Remove it."
                )
            elif value is None:
                texts.append(
                    f'{where} sets "{key}" to null, but Aiven\'s API cannot clear a value. Declare the value that you'
                    " want, or leave the key out."
                )
            elif as_field(SETTINGS[key][1], value) is None:
                texts.append(f'{where} sets "{key}" to "{value}", wanted {_UNIT[SETTINGS[key][1]]}.')
        known = {key: value for key, value in config.items() if key in SETTINGS or key in _FREE_SETTINGS}
        return texts + super().setting_problems(where, known)

    def site(self, site: Mapping[str, Any]) -> dict[str, Any]:
        """Return all keys of the site."""
        return {key: site[key] for key in _SITE_KEYS}


def _check_values(pair: Mapping[str, Any]) -> list[str]:
    texts = []
    for alias, site in pair["aiven"].items():
        where = f"kafka_dr_aiven.{alias}"
        texts += check_url(f"{where}.url", site["url"])
        texts += check_mapping(f"{where}.client", site["client"], _CLIENT_KEYS)[1]
        texts += [
            f"{where}.{key} is empty."
            for key in ("project", "service", "kafka_project", "kafka_service")
            if site[key] is not None and not site[key]
        ]
    return texts


def _check_sites(pair: Mapping[str, Any]) -> list[str]:
    missing = [alias for alias in pair["clusters"] if alias not in pair["aiven"]]
    unknown = [alias for alias in pair["aiven"] if alias not in pair["clusters"]]
    return [f'kafka_dr_aiven needs the site "{alias}" with kafka_dr_engine "aiven".' for alias in missing] + [
        f'kafka_dr_aiven names "{alias}", which is not in kafka_dr_clusters.{nearest(alias, pair["clusters"])}'
        for alias in unknown
    ]


def _check_fence(pair: Mapping[str, Any]) -> list[str]:
    """Aiven's authorizer does not implement CreateAcls."""
    missing = [alias for alias, site in pair["aiven"].items() if not site["kafka_service"]]
    if pair["fence"] != "acl" or not missing:
        return []
    return [
        f'kafka_dr_fence is "acl", but kafka_dr_aiven.{missing[0]} has no kafka_service. Aiven takes ACLs through its'
        " API only. Set kafka_service of each site to its Kafka service, or set kafka_dr_fence: auto."
    ]


def _check_separator(pair: Mapping[str, Any]) -> list[str]:
    separator = pair["separator"]
    if separator == ".":
        return []
    return [f'kafka_dr_separator is "{separator}", wanted ".": Aiven\'s API has no field for another separator.']


def _check_tasks(pair: Mapping[str, Any]) -> list[str]:
    if not pair["flow"].get("tasks_max"):
        return []
    return [
        'kafka_dr_flow.tasks_max cannot be set with kafka_dr_engine "aiven". Set tasks_max_per_cpu in the advanced'
        " configuration of the service."
    ]


def _check_parts(pair: Mapping[str, Any]) -> list[str]:
    """Settings of one part would become settings of the whole flow."""
    return [
        f'kafka_dr_flow.{key} cannot be used with kafka_dr_engine "aiven": a flow has one set of fields. Use'
        " kafka_dr_flow.settings."
        for key in FLOW_SETTINGS[1:]
        if pair["flow"].get(key)
    ]


def _check_excluded(pair: Mapping[str, Any]) -> list[str]:
    """Find declared names that MirrorMaker 2's default filters exclude."""
    named = [(kind, entry["name"]) for kind in ("topics", "groups") for entry in pair[kind]]
    return [
        f'kafka_dr_{kind} names "{name}", which MirrorMaker 2 excludes by default ({kind}.exclude is "{pattern}").'
        ' This collection does not change that default with kafka_dr_engine "aiven". Use another name, or engine'
        ' "connect".'
        for kind, name in named
        if (pattern := excluded_by_default(kind, name))
    ]


INVENTORY = AivenInventory()
