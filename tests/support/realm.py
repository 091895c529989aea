# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kerberos realm of its own: MIT's KDC on one port of this machine, with keytabs in files.

It does not use the system's configuration: MIT's programs find it through ``environment``, Java through
``java_options``.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab import processes
from lab.secure import write_private

NAME = "KAFKA-DR.TEST"
SERVICE = "kafka"
# Brokers are reached by this name, so it is in their principal.
HOST = "localhost"
BOUND = 30.0
_LOGIN = "com.sun.security.auth.module.Krb5LoginModule"
_CLIENTS = """[libdefaults]
  default_realm = {name}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  # Use TCP at once: the kernel then reports a missing KDC, and no timeout is needed.
  udp_preference_limit = 1
[realms]
  {name} = {{
    kdc = 127.0.0.1:{port}
  }}
"""
_SERVER = """[kdcdefaults]
  kdc_listen = 127.0.0.1:{port}
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  {name} = {{
    database_name = {folder}/principal
    key_stash_file = {folder}/stash
    acl_file = {folder}/acl
    max_life = 1h
    max_renewable_life = 1d
  }}
[logging]
  kdc = FILE:{folder}/kdc.log
"""


@dataclass(frozen=True)
class Realm:
    """The realm in one folder, served at one port."""

    folder: Path
    port: int

    @property
    def client_settings(self) -> Path:
        return self.folder / "krb5.conf"

    @property
    def environment(self) -> dict[str, str]:
        """The environment.

        It has its own ticket cache: an existing ticket of the user is neither used nor overwritten.
        """
        return {
            "KRB5_CONFIG": str(self.client_settings),
            "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{self.folder / 'cache'}",
        }

    @property
    def java_options(self) -> list[str]:
        """Java does not read KRB5_CONFIG."""
        return [f"-Djava.security.krb5.conf={self.client_settings}"]

    @property
    def part(self) -> processes.Part:
        """The KDC as a process that a later run can find and stop, through a file argument that only it has."""
        own = self.folder / "kdc.served"
        return processes.Part("the KDC", program("krb5kdc"), own, self.folder / "kdc.pid", self.folder / "kdc.out")

    def keytab(self, principal: str) -> Path:
        return self.folder / f"{principal.replace('/', '-')}.keytab"

    def login(self, principal: str) -> str:
        """A JAAS line that authenticates with a keytab."""
        return (
            f'{_LOGIN} required useKeyTab=true storeKey=true keyTab="{self.keytab(principal)}" '
            f'principal="{principal}@{NAME}";'
        )

    def client(self, principal: str) -> dict[str, str]:
        """Client properties as in an inventory: librdkafka's names, and Java's own configuration."""
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "GSSAPI",
            "sasl.kerberos.service.name": SERVICE,
            "sasl.kerberos.principal": f"{principal}@{NAME}",
            "sasl.kerberos.keytab": str(self.keytab(principal)),
            "java.sasl.jaas.config": self.login(principal),
        }

    # ---- start and stop -------------------------------------------------------------------------------------

    def start(self, principals: Iterable[str]) -> None:
        """Create the database and the keytabs, and wait until the KDC issues a ticket.

        Needs ``environment`` to be set.
        """
        names = list(principals)
        self.folder.mkdir(parents=True, mode=0o700)
        write_private(self.client_settings, _CLIENTS.format(name=NAME, port=self.port))
        write_private(self.folder / "kdc.conf", _SERVER.format(name=NAME, port=self.port, folder=self.folder))
        self._run("kdb5_util", "create", "-s", "-r", NAME, "-P", secrets.token_hex(20))
        for name in names:
            self._run("kadmin.local", "-r", NAME, "addprinc", "-randkey", name)
            self._run("kadmin.local", "-r", NAME, "ktadd", "-k", str(self.keytab(name)), name)
        # With -n it stays the process that was started.
        command = [program("krb5kdc"), "-n", "-r", NAME, "-P", str(self.part.config)]
        processes.spawn(self.part, command)
        if not processes.wait_until(lambda: processes.gone(self.part) or self.answers(names[0]), BOUND):
            raise AssertionError(f"The KDC gave no ticket within {BOUND:g} s:\n{self._said()}")
        assert not processes.gone(self.part), f"The KDC ended:\n{self._said()}"

    def stop(self) -> None:
        processes.adopt_strays(self.part)
        processes.stop([self.part], 5.0)

    def answers(self, principal: str) -> bool:
        return self.ticket(principal, self.folder / "first").returncode == 0

    def ticket(self, principal: str, cache: Path, *more: str) -> subprocess.CompletedProcess[str]:
        """Get a ticket as a person or a job would, into a cache."""
        words = ("-k", "-t", str(self.keytab(principal)), "-c", f"FILE:{cache}", *more, principal)
        return self._run("kinit", *words, check=False)

    def has_ticket(self, cache: Path) -> bool:
        """Return whether there is a valid ticket."""
        return self._run("klist", "-s", "-c", f"FILE:{cache}", check=False).returncode == 0

    def _said(self) -> str:
        return "\n".join(processes.tail(path) for path in (self.part.log, self.folder / "kdc.log"))

    def _run(self, name: str, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        own = {**os.environ, **self.environment}
        done = subprocess.run(
            [program(name), *words], capture_output=True, text=True, env=own, timeout=BOUND, check=False
        )
        if check and done.returncode:
            raise AssertionError(f"{name} {words[0]} failed: {done.stderr.strip()}")
        return done


def program(name: str) -> str:
    """The path of a program. The programs of a KDC are in a folder of root's PATH."""
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"]))
    assert found, f"{name} is not installed: run make kerberos."
    return found
