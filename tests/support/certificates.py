# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Server certificates: valid ones, and those that a client must refuse."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Served:
    """The paths of PEM files: a server's certificate, its key, and the CA that signed it."""

    certificate: Path
    key: Path
    ca: Path


def issue(folder: Path, address: str = "127.0.0.1", until: datetime.timedelta = DAY, subject: str = "server") -> Served:
    """A CA of its own and a certificate for ``address``, valid for ``until`` from now on. ``subject``: its CN."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Served(folder / "server.pem", folder / "server.key", folder / "ca.pem")
    now = datetime.datetime.now(datetime.UTC)
    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _each in range(2))
    ca_name = _name(f"CA of {folder.name}")
    ca = _begun(ca_name, ca_name, ca_key, now + 10 * DAY)
    ca = ca.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
    certificate = _begun(_name(subject), ca_name, key, now + until).add_extension(names, critical=False)
    for path, one in ((made.ca, ca), (made.certificate, certificate)):
        path.write_bytes(one.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    made.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return made


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, until: datetime.datetime
) -> x509.CertificateBuilder:
    begun = x509.CertificateBuilder(subject_name=subject, issuer_name=issuer, public_key=key.public_key())
    number = begun.serial_number(x509.random_serial_number())
    return number.not_valid_before(until - 400 * DAY).not_valid_after(until)


@contextlib.contextmanager
def shown(served: Served) -> Iterator[str]:
    """HOST:PORT of a server that shows its certificate, and closes every accepted connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(served.certificate, served.key)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _address = server.accept()
                except OSError:
                    return
                with contextlib.suppress(OSError), connection:
                    context.wrap_socket(connection, server_side=True).close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)
