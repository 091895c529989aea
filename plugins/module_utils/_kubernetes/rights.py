# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the rights of an account on a workload before anything is changed.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._core.errors import DrError
from .api import Kind, KubernetesApi

__all__ = ["require_rights"]


def require_rights(api: KubernetesApi, namespace: str, title: str, needed: Iterable[tuple[Kind, str, str]]) -> None:
    """Raise ``rights_missing`` with every right of ``needed`` (kind, name, verb) that the account lacks."""
    missing = [
        f"{verb} {kind.plural} {name}".rstrip()
        for kind, name, verb in needed
        if not api.may(kind, namespace, verb, name)
    ]
    if missing:
        raise DrError(
            "rights_missing",
            f'The account of the {title} may not {"; ".join(missing)} in the namespace "{namespace}" of "{api.url}".',
            "Apply the Role for applications of docs/kubernetes.md, then start the same playbook again.",
            api.url,
        )
