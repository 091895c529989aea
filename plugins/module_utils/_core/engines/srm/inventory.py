# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory part of the engine ``srm``, with the lists of srm-control. Opens no connection.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...names import naming_of
from ...resources.connector_settings import FLOW_SETTINGS, OPTIONS
from ...resources.topic_filters import excluded_by_default
from ...schema import Key, check_mapping, check_url, nearest
from ..inventory import Capabilities, Check, EngineInventory, Refusals
from .replication_lines import OWN

__all__ = ["CAPABILITIES", "INVENTORY"]

CAPABILITIES = Capabilities(
    offset_syncs_on_source=True,
    offsets_writable=False,
    offsets_outlive_flow=True,
    separate_lists=True,
    changes_restart=True,
    parts_have_states=False,
    versions_retained_by="Cloudera Manager distributes it with its parcel",
    settings_known_by="according to the Replication Configs; the running connectors cannot be read",
)
#: Keys of a site that modules need to observe or to stop its service.
_MANAGER = ("url", "client", "api_version", "cluster", "service", "reverse_checkpointing")
# The options of the module connect_mirror do not apply to this engine. Its other defaults stay unchanged.
_FREE_SETTINGS = frozenset({*OPTIONS, "heartbeats.replication.enabled"})
_SITE_KEYS = {
    "url": Key(required=True),
    "client": Key("dict", default={}),
    "api_version": Key(),
    "cluster": Key(required=True),
    "service": Key(),
    "reverse_checkpointing": Key(default="auto", choices=("auto", "required", "off")),
    "host": Key(required=True),
    "command": Key("words", default=["srm-control"]),
    "config": Key(),
    "secret_env": Key(default="SECURESTOREPASS"),
    "secret": Key(),
}
# The keys of a client that are texts.
_CLIENT_TEXTS = dict.fromkeys(("url_username", "url_password", "ca_path", "client_cert", "client_key"), Key())
_STEPS = {
    "before_enable": "engine_srm_preflight.yml",
    "after_flows": "engine_srm_lists.yml",
    "before_readiness": "engine_srm_read_lists.yml",
}


class SrmInventory(EngineInventory):
    """Each cluster has its own Streams Replication Manager, which runs the flow to this cluster."""

    capabilities = CAPABILITIES
    refusals = Refusals(
        adoption="its stored offsets cannot be set",
        applications="its group offset sync can be switched only for the whole flow",
        copy_again="the stored offsets of the engine srm cannot be changed, so it cannot replicate a topic again from"
        " the start. Use another topic name.",
        identity="its stored offsets cannot be set, so a failback would replicate everything again",
        rehearsal="one service replicates all topics, and a rehearsal would restart it while applications depend on it",
        rebuild="",
    )
    site_keys = _SITE_KEYS
    steps = _STEPS

    def value_checks(self) -> Sequence[Check]:
        """Check the addresses and commands of sites."""
        return (("", _check_values),)

    def pair_checks(self) -> Sequence[Check]:
        """Check the sites, and that srm-control and Replication Configs accept the settings and names."""
        return (
            ("clusters srm", _check_sites),
            ("policy", _check_settings),
            ("policy", _check_groups),
            ("policy", _check_excluded),
        )

    def setting_problems(self, where: str, config: Mapping[str, str | None]) -> list[str]:
        """Also refuse null, which removes a setting: Replication Configs can only add settings."""
        judged = {key: value for key, value in config.items() if key not in _FREE_SETTINGS}
        return super().setting_problems(where, judged) + [
            f'{where} sets "{key}" to null, but kafka_dr_engine "srm" cannot remove a setting. Leave it out.'
            for key, value in config.items()
            if value is None
        ]

    def site(self, site: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys that identify the service in Cloudera Manager, and ``reverse_checkpointing``."""
        return {key: site[key] for key in _MANAGER}

    def lists(self, pair: Mapping[str, Any]) -> dict[str, Any]:
        """Return the lists of srm-control."""
        return _list_rows(pair)


def _check_values(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    for alias, site in pair["srm"].items():
        problems += check_url(f"kafka_dr_srm.{alias}.url", site["url"])
        texts = {key: value for key, value in site["client"].items() if key in _CLIENT_TEXTS}
        problems += check_mapping(f"kafka_dr_srm.{alias}.client", texts, _CLIENT_TEXTS)[1]
        if not site["command"]:
            problems.append(f"kafka_dr_srm.{alias}.command is empty, wanted a command and its arguments.")
    return problems


def _check_sites(pair: Mapping[str, Any]) -> list[str]:
    missing = [alias for alias in pair["clusters"] if alias not in pair["srm"]]
    unknown = [alias for alias in pair["srm"] if alias not in pair["clusters"]]
    return [f'kafka_dr_srm needs the site "{alias}" with kafka_dr_engine "srm".' for alias in missing] + [
        f'kafka_dr_srm names "{alias}", which is not in kafka_dr_clusters.{nearest(alias, pair["clusters"])}'
        for alias in unknown
    ]


def _check_settings(pair: Mapping[str, Any]) -> list[str]:
    return [
        f'kafka_dr_flow sets "{key}", which this collection sets itself. Remove it.'
        for key in _own_settings(pair["flow"])
    ]


def _check_groups(pair: Mapping[str, Any]) -> list[str]:
    return [
        f'The name of the group "{group["name"]}" contains a comma or a blank, which srm-control does not accept.'
        for group in pair["groups"]
        if set(", \t") & set(group["name"])
    ]


def _check_excluded(pair: Mapping[str, Any]) -> list[str]:
    """Find declared names that the default filters exclude. srm-control can add names but not remove a default."""
    named = [(kind, entry["name"]) for kind in ("topics", "groups") for entry in pair[kind]]
    return [
        f'kafka_dr_{kind} names "{name}", which MirrorMaker 2 excludes by default ({kind}.exclude is "{pattern}").'
        ' This collection cannot change that default with kafka_dr_engine "srm". Use another name, or engine "connect".'
        for kind, name in named
        if (pattern := excluded_by_default(kind, name))
    ]


def _own_settings(flow: Mapping[str, Any]) -> list[str]:
    """Settings in ``kafka_dr_flow`` that the collection derives from the state of the pair, so users must not."""
    given = {key for part in FLOW_SETTINGS for key in flow.get(part) or {}}
    return sorted(given & OWN)


def _list_rows(pair: Mapping[str, Any]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The lists of srm-control by the alias of the site, in the format of the module ``srm_allowlist``.

    ``always`` holds the topics and groups of the flow. ``reverse`` holds the replicas of these topics on the source
    cluster, which Runtime 7.3.2 and later support as reverse-checkpointed topics.
    """
    naming = naming_of(pair["policy"], pair["separator"])
    topics = [topic["name"] for topic in pair["topics"]]
    lists = {}
    for flow in pair["flows"].values():
        place = {"source": flow["source"], "target": flow["target"]}
        always = [{**place, "kind": "topics", "entries": topics}]
        if pair["groups"]:
            groups = {**place, "kind": "groups", "entries": list(pair["groups"])}
            # A group that works on both clusters must not get committed offsets from the other one. Denying it wins
            # over any other entry of the list.
            always.append({**groups, "denied": pair["local_groups"]} if pair["local_groups"] else groups)
        replicas = [naming.replica(flow["target"], topic) for topic in topics]
        reverse = [{**place, "kind": "reverse_checkpointed_topics", "entries": replicas}]
        lists[flow["target"]] = {"always": always, "reverse": reverse}
    return lists


INVENTORY = SrmInventory()
