# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Only jars of the pinned list are ever on a class path."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import ivy, jars
from lab.errors import LabError
from lab.java import Java
from lab.progress import Progress

JARS = {"kafka-clients-4.3.1.jar": b"clients", "connect-mirror-4.3.1.jar": b"mirror", "zstd.jar": b"zstd"}
WANTED = {name: hashlib.sha256(content).hexdigest() for name, content in JARS.items()}
JAVA = Java("/usr/bin/java", 'openjdk version "17.0.1"')
QUIET = Progress(quiet=True)


def fill(path: Path, content: dict[str, bytes]) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, data in content.items():
        (path / name).write_bytes(data)
    return path


def folder(cache: Path) -> Path:
    return jars.folder_of(cache, jars.CHECKSUMS.read_text())


@pytest.fixture
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, bytes]], list[Path]]:
    """Scripted downloads. The returned list has one entry for each download."""
    pinned = tmp_path / "pinned"
    pinned.write_text("".join(f"{value}  {name}\n" for name, value in WANTED.items()))
    monkeypatch.setattr(jars, "CHECKSUMS", pinned)

    def bring(content: dict[str, bytes]) -> list[Path]:
        happened: list[Path] = []

        def retrieve(work: Path, java: str, progress: Progress, expected: int | None, version: str) -> Path:
            happened.append(work)
            return fill(work / "lib", content)

        monkeypatch.setattr(jars, "retrieve", retrieve)
        return happened

    return bring


def test_the_right_jars_have_no_difference(tmp_path: Path) -> None:
    assert not jars.compare(fill(tmp_path, JARS), WANTED)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"zstd.jar": None}, "missing: zstd.jar"),
        ({"zstd.jar": b"zsta"}, "wrong checksum: zstd.jar"),
        ({"zstd.jar": b""}, "wrong checksum: zstd.jar"),
        ({"evil.jar": b"evil"}, "not in the list: evil.jar"),
    ],
)
def test_each_difference_is_reported(tmp_path: Path, change: dict[str, bytes | None], message: str) -> None:
    fill(tmp_path, JARS)
    for name, data in change.items():
        if data is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_bytes(data)
    assert str(jars.compare(tmp_path, WANTED)) == message


def test_a_verified_folder_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, JARS)
    assert not jars.verify(tmp_path, WANTED)
    monkeypatch.setattr(jars, "checksum", lambda path: pytest.fail("read again"))
    assert not jars.verify(tmp_path, WANTED)


def test_a_jar_changed_after_the_verification_is_found(tmp_path: Path) -> None:
    fill(tmp_path, JARS)
    jars.verify(tmp_path, WANTED)
    (tmp_path / "zstd.jar").write_bytes(b"ZSTD")
    os.utime(tmp_path / "zstd.jar", ns=(1, 1))
    assert jars.verify(tmp_path, WANTED).damaged == ("zstd.jar",)


def test_another_pinned_list_invalidates_the_stamp(tmp_path: Path) -> None:
    fill(tmp_path, JARS)
    jars.verify(tmp_path, WANTED)
    assert jars.verify(tmp_path, {**WANTED, "zstd.jar": "0" * 64}).damaged == ("zstd.jar",)


def test_an_empty_cache_is_filled_once(tmp_path: Path, downloads: Callable[[dict[str, bytes]], list[Path]]) -> None:
    happened = downloads(JARS)
    assert jars.ensure_jars(tmp_path, JAVA, QUIET) == (folder(tmp_path), True)
    assert jars.ensure_jars(tmp_path, JAVA, QUIET) == (folder(tmp_path), False)
    assert len(happened) == 1


def test_another_list_does_not_change_the_jars_of_a_checkout(
    tmp_path: Path, downloads: Callable[[dict[str, bytes]], list[Path]]
) -> None:
    downloads(JARS)
    mine, _downloaded = jars.ensure_jars(tmp_path, JAVA, QUIET)
    jars.CHECKSUMS.write_text("".join(f"{WANTED[name]}  {name}\n" for name in JARS if name != "zstd.jar"))
    downloads({name: content for name, content in JARS.items() if name != "zstd.jar"})
    other, downloaded = jars.ensure_jars(tmp_path, JAVA, QUIET)
    assert downloaded
    assert other != mine
    assert (mine / "zstd.jar").exists()


def test_a_damaged_cache_is_repaired_by_one_download(
    tmp_path: Path, downloads: Callable[[dict[str, bytes]], list[Path]]
) -> None:
    fill(folder(tmp_path), {**JARS, "zstd.jar": b"half"})
    happened = downloads(JARS)
    _folder, downloaded = jars.ensure_jars(tmp_path, JAVA, QUIET)
    assert downloaded
    assert len(happened) == 1
    assert (folder(tmp_path) / "zstd.jar").read_bytes() == b"zstd"


def test_a_wrong_download_is_refused_by_name_and_the_cache_is_unchanged(
    tmp_path: Path, downloads: Callable[[dict[str, bytes]], list[Path]]
) -> None:
    old = fill(folder(tmp_path), {"kafka-clients-4.3.1.jar": b"clients"})
    happened = downloads({**JARS, "connect-mirror-4.3.1.jar": b"rewritten"})
    with pytest.raises(LabError, match=r"wrong checksum: connect-mirror-4\.3\.1\.jar"):
        jars.ensure_jars(tmp_path, JAVA, QUIET)
    assert len(happened) == 1
    assert [path.name for path in old.glob("*.jar")] == ["kafka-clients-4.3.1.jar"]


def test_a_failed_download_leaves_no_partial_files(
    tmp_path: Path, downloads: Callable[[dict[str, bytes]], list[Path]]
) -> None:
    downloads({})
    with pytest.raises(LabError):
        jars.ensure_jars(tmp_path, JAVA, QUIET)
    assert not list(tmp_path.glob("*.part-*"))
    assert not (folder(tmp_path)).exists()


def test_the_committed_list_pins_every_requested_artefact() -> None:
    pinned = jars.parse_checksums(jars.CHECKSUMS.read_text())
    assert {f"{name}-{ivy.KAFKA_VERSION}.jar" for name in ivy.KAFKA} <= set(pinned)
    assert f"log4j-slf4j-impl-{ivy.LOG4J_VERSION}.jar" in pinned
    assert all(len(value) == 64 for value in pinned.values())


def test_the_module_description_requests_the_jars_and_their_runtime_dependencies() -> None:
    text = ivy.module_description()
    assert text.count("<dependency ") == len(ivy.KAFKA) + 1
    assert text.count('conf="default->runtime,master"') == len(ivy.KAFKA) + 1


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("x\n\tServer access error at url https://host/a.pom (java.net.ConnectException)\ny", "Server access error at"),
        ("trying\nunknown host somewhere.invalid\n", "unknown host somewhere.invalid"),
        ("first\nlast line\n", "last line"),
        ("", "Ivy wrote no log"),
    ],
)
def test_the_cause_is_taken_from_the_log_of_ivy(log: str, message: str) -> None:
    assert ivy.complaint(log).startswith(message)


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.delenv("KAFKA_DR_CACHE", raising=False)
    assert jars.default_cache() == Path("/xdg/switchback.kafka_dr")
    monkeypatch.setenv("KAFKA_DR_CACHE", "/own")
    assert jars.default_cache() == Path("/own")


def test_a_version_without_checksums_is_refused_with_those_that_have_them(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"no checksums of Kafka 1\.0\.0. It has those of .*4\.3\.1"):
        jars.ensure_jars(tmp_path, JAVA, QUIET, "1.0.0")
