# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The secured lab: certificates, passwords, and the security settings of brokers and workers.

Passwords are in files that only their owner can read. Brokers, workers and connectors get references to them, which
Kafka's FileConfigProvider resolves. So no configuration, REST response or log contains a password.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError

PROTOCOL = "SASL_SSL"
MECHANISM = "SCRAM-SHA-512"
# broker: the brokers. admin: the playbooks. flow: Connect workers and MirrorMaker 2. producer, consumer: the
# applications; dr-viewer, dr-mover: the accounts of the collection. These have no ACLs at first.
SUPER_USERS = ("broker", "admin")
USERS = (*SUPER_USERS, "flow", "producer", "consumer", "rehearsal", "dr-viewer", "dr-mover")
#: The user of the workers' REST interface. Kafka users have no access to it.
REST_USER = "operator"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_REST = "org.apache.kafka.connect.rest.basic.auth.extension"
_KEYSTORE = "keystore"
_DAYS = "3650"
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-sha256")
_EXTENSIONS = """subjectAltName=DNS:localhost,IP:127.0.0.1
basicConstraints=critical,CA:FALSE
extendedKeyUsage=serverAuth
"""


@dataclass(frozen=True)
class Security:
    """Paths of a secured lab, below a folder that only its owner can enter."""

    folder: Path

    @property
    def ca(self) -> Path:
        """The CA certificate that clients trust."""
        return self.folder / "ca.pem"

    @property
    def server(self) -> Path:
        """Key, certificate and CA of the brokers in one file, in the format of Kafka's PEM key store."""
        return self.folder / "server.pem"

    @property
    def store(self) -> Path:
        """The same as PKCS#12 for the REST interface of Kafka Connect, which does not support PEM."""
        return self.folder / "server.p12"

    @property
    def passwords(self) -> Path:
        """File with lines of USER=PASSWORD, and the password of the key store."""
        return self.folder / "passwords.properties"

    @property
    def rest_passwords(self) -> Path:
        """The same for the users of the REST interface. Each user in the file has access."""
        return self.folder / "rest.properties"

    @property
    def rest_login(self) -> Path:
        """JAAS file with the path of ``rest_passwords`` for the worker's JVM."""
        return self.folder / "rest.jaas"

    @property
    def exists(self) -> bool:
        """Whether all files exist. ``passwords`` is written last, so an interrupted start creates all of them again."""
        return self.passwords.exists()

    def password(self, user: str) -> str:
        path = self.rest_passwords if user == REST_USER else self.passwords
        try:
            lines = path.read_text().splitlines()
        except OSError as error:
            raise LabError(f"The passwords of the lab cannot be read: {path}: {error.strerror}.") from error
        found = dict(line.split("=", 1) for line in lines if "=" in line)
        if user not in found:
            raise LabError(f"The lab has no user {user!r}. Its users are {', '.join(USERS)}.")
        return found[user]

    def client(self, user: str) -> dict[str, str]:
        """librdkafka properties of one user, with the password."""
        return {**self.trust(), "sasl.username": user, "sasl.password": self.password(user)}

    def trust(self) -> dict[str, str]:
        """librdkafka properties of all clients, without secrets."""
        return {"security.protocol": PROTOCOL, "sasl.mechanism": MECHANISM, "ssl.ca.location": str(self.ca)}

    def rest_trust(self) -> dict[str, str]:
        """The modules' option ``connect_client`` without the password."""
        return {"url_username": REST_USER, "ca_path": str(self.ca)}

    def rest_client(self) -> dict[str, str]:
        """The modules' option ``connect_client``."""
        return {**self.rest_trust(), "url_password": self.password(REST_USER)}

    def secrets(self) -> list[str]:
        """All passwords. No other file may contain one."""
        return [self.password(user) for user in (*USERS, REST_USER, _KEYSTORE)]

    def masked(self, text: str) -> str:
        for secret in self.secrets():
            text = text.replace(secret, "********")
        return text

    def reference(self, user: str) -> str:
        return f"${{file:{self.passwords}:{user}}}"

    def scram_login(self, user: str) -> str:
        """JAAS line with a reference instead of the password."""
        return f'{_SCRAM} required username="{user}" password="{self.reference(user)}";'


def security(root: Path) -> Security:
    return Security(root / "secure")


def refuse_path(root: Path) -> None:
    """Raise LabError if the path contains a character that ends a reference such as ``${file:PATH:user}``."""
    if wrong := [sign for sign in ':}"' if sign in str(root)]:
        raise LabError(f"The folder of a secured lab, {root}, must not contain {wrong[0]}: choose another --dir.")


# ---- settings of the processes ----------------------------------------------------------------------------------


def broker(found: Security, own: str | None, controller: str | None) -> dict[str, object]:
    """Broker properties that override those of an open lab.

    ``own``, ``controller``: addresses of the listeners for clients and for the quorum; None: it has no such listener.
    """
    plain = f'{_PLAIN} required username="broker" password="{found.reference("broker")}"'
    clients = {"advertised.listeners": f"{PROTOCOL}://{own}", "inter.broker.listener.name": PROTOCOL} if own else {}
    listeners = [f"{PROTOCOL}://{own}"] if own else []
    listeners += [f"CONTROLLER://{controller}"] if controller else []
    return {
        "listeners": ",".join(listeners),
        **clients,
        "listener.security.protocol.map": f"CONTROLLER:{PROTOCOL},{PROTOCOL}:{PROTOCOL}",
        **_provider(found),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": found.server,
        **_trust_store(found),
        "ssl.client.auth": "none",
        "sasl.enabled.mechanisms": MECHANISM,
        "sasl.mechanism.inter.broker.protocol": MECHANISM,
        f"listener.name.sasl_ssl.{MECHANISM.lower()}.sasl.jaas.config": found.scram_login("broker"),
        # PLAIN, because SCRAM users are in the metadata log, which only a running controller can read.
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": f'{plain} user_broker="{found.reference("broker")}";',
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": ";".join(f"User:{user}" for user in SUPER_USERS),
    }


def connect(found: Security) -> dict[str, object]:
    """Worker properties for its own connection and for its producers, consumers and admin clients."""
    client = flow_client(found)
    inner = {f"{kind}.{key}": value for kind in ("producer", "consumer", "admin") for key, value in client.items()}
    rest = {
        "listeners.https.ssl.keystore.type": "PKCS12",
        "listeners.https.ssl.keystore.location": found.store,
        "listeners.https.ssl.keystore.password": found.reference(_KEYSTORE),
        "rest.extension.classes": f"{_REST}.BasicAuthSecurityRestExtension",
    }
    return {**_provider(found), **client, **inner, **rest}


def flow_client(paths: Security) -> dict[str, object]:
    """Java properties of a client of the user ``flow``, with a reference to its password."""
    login = {"sasl.mechanism": MECHANISM, "sasl.jaas.config": paths.scram_login("flow")}
    return {"security.protocol": PROTOCOL, **login, **_trust_store(paths)}


def jvm_options(found: Security) -> list[str]:
    """JVM options of the worker. Its REST extension reads its users only from a JAAS file."""
    return [f"-Djava.security.auth.login.config={found.rest_login}"]


def _provider(found: Security) -> dict[str, object]:
    return {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        # A connector configuration must not be able to read other files through the provider.
        "config.providers.file.param.allowed.paths": found.folder,
    }


def _trust_store(found: Security) -> dict[str, object]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": found.ca}


def scram_options(found: Security) -> list[str]:
    """Options of StorageTool, in Kafka 4.3 the only way to create the first SCRAM users of a new cluster."""
    return [
        word for user in USERS for word in ("--add-scram", f"{MECHANISM}=[name={user},password={found.password(user)}]")
    ]


# ---- certificates and passwords -------------------------------------------------------------------------------


def make(found: Security) -> None:
    """Create the CA, one certificate for all brokers, and one random password for each user. Runs once per lab."""
    if found.exists:
        return
    shutil.rmtree(found.folder, ignore_errors=True)
    found.folder.mkdir(parents=True)
    found.folder.chmod(0o700)
    passwords = {user: secrets.token_hex(20) for user in (*USERS, _KEYSTORE)}
    _certificates(found, passwords[_KEYSTORE])
    write_private(found.rest_passwords, f"{REST_USER}={secrets.token_hex(20)}\n")
    login = f'{_REST}.PropertyFileLoginModule required file="{found.rest_passwords}";'
    write_private(found.rest_login, f"KafkaConnect {{\n  {login}\n}};\n")
    write_private(found.passwords, "".join(f"{user}={password}\n" for user, password in passwords.items()))


def _certificates(found: Security, password: str) -> None:
    folder = found.folder
    key, request, certificate, extensions = (folder / name for name in ("key", "request", "certificate", "extensions"))
    ca_key, word = folder / "ca.key", folder / "word"
    write_private(extensions, _EXTENSIONS)
    ca = ("-x509", *_KEY, "-days", _DAYS, "-subj", "/CN=kafka-dr lab CA")
    _openssl("req", *ca, "-keyout", ca_key, "-out", found.ca)
    _openssl("req", *_KEY, "-subj", "/CN=localhost", "-keyout", key, "-out", request)
    issuer = ("-CA", found.ca, "-CAkey", ca_key, "-CAcreateserial", "-days", _DAYS, "-sha256", "-extfile", extensions)
    _openssl("x509", "-req", "-in", request, *issuer, "-out", certificate)
    write_private(found.server, "".join(path.read_text() for path in (key, certificate, found.ca)))
    write_private(word, password)
    chain = ("-in", certificate, "-inkey", key, "-certfile", found.ca)
    _openssl("pkcs12", "-export", *chain, "-out", found.store, "-passout", f"file:{word}")
    # The CA needs to sign no other certificate, so its key is deleted.
    for path in (key, request, certificate, extensions, ca_key, word, folder / "ca.srl"):
        path.unlink(missing_ok=True)


def _openssl(*words: str | Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise LabError("A secured lab needs openssl for its certificates, but PATH has none. Install openssl.")
    command = [program, *(str(word) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, umask=0o077)
    if done.returncode:
        raise LabError(f"openssl {words[0]} failed: {done.stderr.strip()[-1000:]}")


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, also while it is written."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    part.touch(0o600, exist_ok=False)
    part.write_text(text)
    part.replace(path)
