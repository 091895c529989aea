# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the inventory names a Kubernetes API server, and what is wrong with it. Opens no connection.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..schema import Key, check_url, one_line

__all__ = ["API_KEYS", "api_problems", "name_problems"]

#: The keys that name an API server and log in to it.
API_KEYS: Mapping[str, Key] = {
    "url": Key(),
    "ca_path": Key(),
    "token": Key(),
    "token_file": Key(),
    "client_cert": Key(),
    "client_key": Key(),
    "validate_certs": Key("bool", default=True),
    "use_proxy": Key("bool"),
    "kubeconfig": Key(),
    "context": Key(),
}
# RFC 1123 subdomains, the form of most names in Kubernetes.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME = 253


def api_problems(where: str, api: Mapping[str, Any]) -> list[str]:
    """Return why ``api`` does not name one API server and at most one login, one sentence each."""
    if bool(api["url"]) == bool(api["kubeconfig"]):
        return [f'{where} needs exactly one of the keys "url" and "kubeconfig".']
    logins = [key for key in ("token", "token_file", "client_cert") if api[key]]
    if api["kubeconfig"]:
        given = [key for key in (*logins, "ca_path", "client_key") if api[key]]
        return [f'{where} has both "kubeconfig" and "{key}", which the kubeconfig file holds.' for key in given]
    problems = check_url(f"{where}.url", api["url"])
    if api["context"]:
        problems.append(f'{where} has the key "context", which only a kubeconfig has.')
    if len(logins) != 1:
        shown = " and ".join(f'"{key}"' for key in logins) or "none"
        problems.append(f'{where} needs one of the keys "token", "token_file" and "client_cert", found {shown}.')
    if bool(api["client_cert"]) != bool(api["client_key"]):
        problems.append(f'{where} needs "client_cert" and "client_key" together.')
    return problems


def name_problems(where: str, name: str) -> list[str]:
    """Return why ``name`` cannot be the name of a Kubernetes resource."""
    if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name):
        return []
    return [f'{where} is "{one_line(name)}", wanted the name of a Kubernetes resource, such as "dr-b".']
