# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that derive the pair from inventory variables, and values from the pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible import context
from ansible.errors import AnsibleFilterError

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory import layout, rehearsal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports import advice
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports import cutover as report
from ansible_collections.switchback.kafka_dr.plugins.plugin_utils.answers import restore_answers
from ansible_collections.switchback.kafka_dr.plugins.plugin_utils.local_run import load_modules


def pair(
    variables: Mapping[str, Any],
    hosts: Mapping[str, Sequence[str]] | None = None,
    resolved: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Check all ``kafka_dr_*`` variables of a host, and return the pair that they describe.

    ``variables``: by name, with the prefix. ``hosts``: Ansible's ``groups``. None: do not check the hosts of
    applications. ``resolved``: what the module ``dr_pattern_info`` returns; None: the names of topics and groups that
    patterns take are not known yet.
    """
    short = {name.removeprefix("kafka_dr_"): value for name, value in variables.items()}
    try:
        return layout.laid_out(derive_pair(short, hosts=hosts, resolved=resolved))
    except DrError as error:
        raise AnsibleFilterError(error.sentence()) from None


def rehearsal_pair(pair: Mapping[str, Any], active: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Derive the pair of a rehearsal, see ``_core.inventory.rehearsal``."""
    try:
        return rehearsal.rehearsal_pair(pair, active, options)
    except DrError as error:
        raise AnsibleFilterError(error.sentence()) from None


def run_whole(host: str | None) -> str:
    """Return ``host`` unchanged if the command line selects it and every task, else raise an error.

    For the keyword ``hosts`` of a play, which no tag can leave out. Ansible templates it before it forks, so this also
    restores the answers of a survey, and loads the modules that all forks need. None: an empty answer.
    """
    restore_answers()
    host = "localhost" if host is None else host
    if not host.strip():
        raise AnsibleFilterError("kafka_dr_run_on is empty, wanted a host of the Ansible inventory.")
    options = context.CLIARGS
    # Molecule always skips its own tags, which no task of the collection has.
    skipped = {tag for tag in options.get("skip_tags") or () if not tag.endswith("notest")}
    part = "all" not in (options.get("tags") or ["all"]) or skipped or options.get("start_at_task")
    # With another limit no host matches, no task runs, and ansible-playbook exits with 0.
    if part or (options.get("subset") or host) not in (host, "all"):
        raise AnsibleFilterError(
            "This playbook must run whole. Start it without --tags, --skip-tags, --start-at-task and --limit."
        )
    load_modules()
    return host


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        functions = (
            pair,
            advice.failure_reason,
            rehearsal_pair,
            layout.client_batches,
            layout.client_call,
            layout.fence_acls,
            report.epoch_seconds,
            run_whole,
        )
        return {function.__name__: function for function in functions}
