# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out why a broker's certificate is not trusted. librdkafka reports only that the verification failed.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Mapping

__all__ = ["why_not_trusted"]

SECONDS = 3.0


def why_not_trusted(config: Mapping[str, str]) -> str:
    """Return ``HOST:PORT: certificate has expired`` for the first bootstrap server whose certificate fails, else "".

    ``config``: properties of librdkafka. The same certificates are verified with Python's OpenSSL, which reports the
    reason.
    """
    trust = _trust(config)
    if trust is None:
        return ""
    for server in config["bootstrap.servers"].split(","):
        host, _colon, port = server.strip().rpartition(":")
        with contextlib.suppress(OSError, ValueError):
            try:
                with socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS) as plain:
                    trust.wrap_socket(plain, server_hostname=host.strip("[]")).close()
            except ssl.SSLCertVerificationError as error:
                return f"{server.strip()}: {error.verify_message}"
    return ""


def _trust(config: Mapping[str, str]) -> ssl.SSLContext | None:
    """The TLS context. None: the CA files cannot be read, which librdkafka reports itself."""
    try:
        context = ssl.create_default_context(
            cafile=config.get("ssl.ca.location") or None, cadata=config.get("ssl.ca.pem") or None
        )
    except OSError:
        return None
    context.check_hostname = config.get("ssl.endpoint.identification.algorithm", "https") == "https"
    return context
