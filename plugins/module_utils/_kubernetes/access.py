# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the address of an API server and the credentials for it: from options, or from a kubeconfig file.

Source: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/

Private to this collection: may change in any release.
"""

from __future__ import annotations

import atexit
import base64
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load

from .._core.errors import DrError
from .._files import require_file

__all__ = ["Access", "access_of"]

_CLIENT = ("ca_path", "client_cert", "client_key", "validate_certs", "use_proxy")


@dataclass(frozen=True)
class Access:
    """An API server and one login."""

    url: str
    #: Certificates and proxy, as :class:`.._http.HttpClient` takes them.
    client: Mapping[str, Any]
    token: str | None = None
    #: File with a token that another program renews, such as that of a service account. Read for each request.
    token_file: str | None = None

    def bearer(self) -> str | None:
        """The present token. None: the login is a client certificate. Raises ``client_file_missing``."""
        if self.token_file is None:
            return self.token
        require_file("token_file", self.token_file, f'the client of Kubernetes at "{self.url}"')
        return Path(self.token_file).read_text(encoding="utf-8").strip()


def access_of(api: Mapping[str, Any]) -> Access:
    """Return the access that ``api`` names: a mapping with the keys of ``API_KEYS``, which were checked.

    Raises ``kubeconfig_unusable``.
    """
    if api.get("kubeconfig"):
        return _of_file(str(api["kubeconfig"]), api)
    client = {key: api[key] for key in _CLIENT if api.get(key) is not None}
    return Access(str(api["url"]), client, api.get("token"), api.get("token_file"))


def _of_file(name: str, api: Mapping[str, Any]) -> Access:
    path = Path(name).expanduser()
    require_file("kubeconfig", str(path), "the inventory")
    try:
        document = yaml_load(path.read_text(encoding="utf-8"))
    except Exception as error:  # the YAML parser has its own exceptions, of a library that may be missing here
        raise _unusable(name, f"it is not YAML ({str(error).splitlines()[0]})") from None
    if not isinstance(document, Mapping):
        raise _unusable(name, "it is not a mapping")
    context_name = api.get("context") or document.get("current-context")
    context = _entry(name, document, "contexts", "context", context_name)
    cluster = _entry(name, document, "clusters", "cluster", context.get("cluster"))
    user = _entry(name, document, "users", "user", context.get("user"))
    for key in ("exec", "auth-provider"):
        if user.get(key):
            raise _unusable(
                name,
                f'its user "{context.get("user")}" logs in with "{key}", which starts a program',
                "Use a token of a service account: kubectl create token NAME --duration=4h, in the key token.",
            )
    if not cluster.get("server"):
        raise _unusable(name, f'its cluster "{context.get("cluster")}" has no server')
    client = {
        "ca_path": _file(path, cluster, "certificate-authority"),
        "client_cert": _file(path, user, "client-certificate"),
        "client_key": _file(path, user, "client-key"),
        "validate_certs": not cluster.get("insecure-skip-tls-verify", False),
        "use_proxy": api.get("use_proxy"),
    }
    token_file = user.get("tokenFile")
    token = None if token_file else user.get("token")
    if not (token or token_file or client["client_cert"]):
        raise _unusable(name, f'its user "{context.get("user")}" has neither a token nor a client certificate')
    given = {key: value for key, value in client.items() if value is not None}
    return Access(str(cluster["server"]), given, token, str(path.parent / token_file) if token_file else None)


def _entry(file: str, document: Mapping[str, Any], section: str, key: str, name: Any) -> Mapping[str, Any]:
    """The entry of a kubeconfig's list with this name."""
    for entry in document.get(section) or []:
        if isinstance(entry, Mapping) and entry.get("name") == name and isinstance(entry.get(key), Mapping):
            value: Mapping[str, Any] = entry[key]
            return value
    raise _unusable(file, f'it has no {key} "{name}"', "Set the key context to a context of this file.")


def _file(config: Path, entry: Mapping[str, Any], key: str) -> str | None:
    """The path of a certificate or key. Inline data becomes a file that only this user can read, until the end."""
    if entry.get(key):
        return str(config.parent / str(entry[key]))
    data = entry.get(f"{key}-data")
    if not data:
        return None
    handle, path = tempfile.mkstemp(prefix="kafka-dr-", suffix=".pem")
    atexit.register(_remove, path)
    with os.fdopen(handle, "wb") as file:
        file.write(base64.b64decode(str(data)))
    return path


def _remove(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()


def _unusable(name: str, why: str, hint: str = "Correct the file, or the key kubeconfig of the inventory.") -> DrError:
    return DrError("kubeconfig_unusable", f'The kubeconfig "{name}" cannot be used: {why}.', hint)
