# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jars of Kafka, Connect and MirrorMaker 2: downloaded once, cached, and verified before each use."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError
from .files import locked, read_json, to_json, write_atomically
from .ivy import KAFKA_VERSION, retrieve
from .java import Java
from .progress import Progress

CHECKSUMS = Path(__file__).with_name("jars.sha256")
STAMP = "verified.json"


def pinned(version: str) -> Path:
    """The file with the checksums of one Kafka version. Raises LabError if there is none."""
    own = CHECKSUMS if version == KAFKA_VERSION else CHECKSUMS.with_name(f"jars-{version}.sha256")
    if not own.exists():
        known = sorted(path.stem.removeprefix("jars-") for path in CHECKSUMS.parent.glob("jars-*.sha256"))
        raise LabError(
            f"The lab has no checksums of Kafka {version}. It has those of {', '.join([*known, KAFKA_VERSION])}."
        )
    return own


@dataclass(frozen=True)
class Findings:
    """Differences between a folder of jars and the pinned list."""

    missing: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.damaged or self.unknown)

    def __str__(self) -> str:
        parts = {"missing": self.missing, "wrong checksum": self.damaged, "not in the list": self.unknown}
        return "; ".join(f"{word}: {_shortened(names)}" for word, names in parts.items() if names)


def _shortened(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def default_cache() -> Path:
    """The default cache folder. It is outside the checkout, so that all checkouts share one download."""
    own = os.environ.get("KAFKA_DR_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "switchback.kafka_dr"


def parse_checksums(text: str) -> dict[str, str]:
    """Checksums by file name, from the output of ``sha256sum``."""
    lines = (line.split() for line in text.splitlines() if line.strip())
    return {name: checksum for checksum, name in lines}


def checksum(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def compare(folder: Path, wanted: dict[str, str]) -> Findings:
    """Compare every jar. An additional jar is a difference too, because all jars are on the class path."""
    found = {path.name: path for path in folder.glob("*.jar")}
    return Findings(
        missing=tuple(sorted(set(wanted) - set(found))),
        damaged=tuple(name for name in sorted(set(wanted) & set(found)) if checksum(found[name]) != wanted[name]),
        unknown=tuple(sorted(set(found) - set(wanted))),
    )


def stamp_of(folder: Path) -> dict[str, list[int]]:
    """Size and time of every jar. A change requires a new full verification."""
    stats = {path.name: path.stat() for path in sorted(folder.glob("*.jar"))}
    return {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}


def verify(folder: Path, wanted: dict[str, str]) -> Findings:
    """Compare all jars, unless no jar has changed since the last comparison without differences."""
    stamp = {"jars": stamp_of(folder), "wanted": hashlib.sha256(repr(sorted(wanted.items())).encode()).hexdigest()}
    if read_json(folder / STAMP) == stamp:
        return Findings()
    findings = compare(folder, wanted)
    if not findings:
        write_atomically(folder / STAMP, to_json(stamp))
    return findings


def folder_of(cache: Path, checksums: str, version: str = KAFKA_VERSION) -> Path:
    """Folder for one pinned list. Checkouts with different lists share the cache without deleting each other's jars."""
    return cache / f"jars-{version}-{hashlib.sha256(checksums.encode()).hexdigest()[:8]}"


def ensure_jars(cache: Path, java: Java, progress: Progress, version: str = KAFKA_VERSION) -> tuple[Path, bool]:
    """Return the folder of verified jars and whether it was downloaded because it was missing, partial or damaged."""
    text = pinned(version).read_text()
    folder, wanted = folder_of(cache, text, version), parse_checksums(text)
    with locked(folder.with_name(f"{folder.name}.lock"), progress):
        findings = verify(folder, wanted)
        if findings:
            why = f"repairing ({findings})" if folder.exists() else "first use"
            progress.say(f"jars: downloading {len(wanted)} jars, 55 MB, to {folder}: {why}")
            download(folder, java, progress, wanted, version)
    return folder, bool(findings)


def download(
    folder: Path, java: Java, progress: Progress, wanted: dict[str, str] | None, version: str = KAFKA_VERSION
) -> None:
    """Download to a temporary folder, verify the jars there, and rename the folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{folder.name}.part-", dir=folder.parent))
    try:
        jars = retrieve(work, java.program, progress, len(wanted) if wanted else None, version)
        findings = verify(jars, wanted) if wanted else Findings()
        if findings:
            raise LabError(
                f"The downloaded jars differ from the pinned list {CHECKSUMS} ({findings}) and were deleted. "
                "If a mirror or proxy rewrites them, set another one with KAFKA_DR_IVY_SETTINGS."
            )
        if folder.exists():
            folder.rename(work / "old")
        jars.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def write_checksums(cache: Path, java: Java, progress: Progress, version: str = KAFKA_VERSION) -> None:
    """For maintainers after a version change: download the jars and write their checksums to the pinned list."""
    folder = cache / f"jars-{version}-new"
    with locked(folder.with_name(f"{folder.name}.lock"), progress):
        download(folder, java, progress, None, version)
        lines = (f"{checksum(path)}  {path.name}" for path in sorted(folder.glob("*.jar")))
        own = CHECKSUMS if version == KAFKA_VERSION else CHECKSUMS.with_name(f"jars-{version}.sha256")
        write_atomically(own, "\n".join(lines) + "\n")
        shutil.rmtree(folder)
