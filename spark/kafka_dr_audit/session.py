# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start a Spark session that can read Kafka, with Java, the connector's jars, and the settings that the audit needs."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import AuditError

JAVA = 17
# The jars of each Spark with their SHA-256. kafka-clients has the version that the connector declares: a newer one
# breaks the connector (NoSuchMethodError). The jars of other versions are not checked.
CONNECTORS = {
    "4.0.0": {
        "spark-sql-kafka-0-10_2.13-4.0.0.jar": "33a3b8b04df4a2e43c9d5bf8ca5972936a1ac662f2714e014d00ef6f27468bf3",
        "spark-token-provider-kafka-0-10_2.13-4.0.0.jar": (
            "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767"
        ),
        "kafka-clients-3.9.0.jar": "15c1e137f2c2c94398e27abc4060a03b6bde10bf9fac15e8f70c02320b202f18",
        "commons-pool2-2.12.0.jar": "6d3bd18df8410f3e31b031aca582cc109342358a62a2759ebd0c4cdf30d06f8b",
    },
    "4.1.1": {
        "spark-sql-kafka-0-10_2.13-4.1.1.jar": "9c1ce986f548e6b1dcb0e2dfe2f253a0bc58f2232a32a0c9c6c674dd25a8570c",
        "spark-token-provider-kafka-0-10_2.13-4.1.1.jar": (
            "e510adc37b03d01d0a190d0dab472b5538e05eaa77454f7e9477156d7a6820ae"
        ),
        "kafka-clients-3.9.1.jar": "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
        "commons-pool2-2.12.1.jar": "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
    },
    "4.2.0": {
        "spark-sql-kafka-0-10_2.13-4.2.0.jar": "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
        "spark-token-provider-kafka-0-10_2.13-4.2.0.jar": (
            "641c7947afc8aa1189e433b7c2d305293993c8691bc1c2062d6d4f513b12518c"
        ),
        "kafka-clients-3.9.2.jar": "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8",
        "commons-pool2-2.13.1.jar": "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f",
    },
}
SPARK = "4.2.0"


# Set by spark-submit for the Python program that it starts.
SUBMITTED = "PYSPARK_GATEWAY_PORT"
LOCAL = "local[*]"
# Up to this number of records, the JVM's second compiler takes more time than its code saves: 2 of 12 seconds.
FEW_RECORDS = 5_000_000
_NEEDED = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.executor.heartbeatInterval": "2s",  # heartbeats carry the progress
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    # The result must not depend on the defaults file of a Spark cluster.
    "spark.sql.session.timeZone": "UTC",
    "spark.speculation": "false",
    # Only some 10,000 rows are shuffled. With the default of 200, each task would write 200 small parts.
    "spark.sql.shuffle.partitions": "8",
    # Use the connector's newer interface (KafkaBatch). The older one converts every record to a Row and back.
    "spark.sql.sources.useV1SourceList": "",
    # Every partition is read once, so records fetched beyond a range would only fill the heap until they expire.
    "spark.kafka.consumer.cache.capacity": "1",
    "spark.kafka.consumer.fetchedData.cache.timeout": "1s",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "1s",
}


@dataclass(frozen=True)
class Resources:
    """How to run Spark."""

    #: Spark master. None: ``local[*]``.
    master: str | None = None
    driver_memory: str = "1g"
    #: Folder with the connector, for machines without access to Maven Central.
    jars: Path | None = None
    #: Additional Spark settings.
    conf: Mapping[str, str] = field(default_factory=dict)
    #: Approximate number of records to read. None: unknown.
    records: int | None = None


def default_cache(version: str = SPARK) -> Path:
    """Return the folder for downloads of one Spark, outside any checkout."""
    own = os.environ.get("KAFKA_DR_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "switchback.kafka_dr"
    return base.expanduser().absolute() / f"spark-{version}"


def where(resources: Resources) -> str:
    """Return the Spark master, for messages."""
    return "as submitted" if SUBMITTED in os.environ else resources.master or LOCAL


def archive() -> Path:
    """Return the path of the class archive that ``--prepare`` writes for this Python environment and this Java."""
    import pyspark

    return Path(sys.prefix, "share", "switchback.kafka_dr", f"spark-{pyspark.__version__}-{_java()}.jsa")


def start(resources: Resources, output: Path, record: Path | None = None) -> Any:
    """Start and return a `SparkSession`.

    ``output``: folder for Spark's log. ``record``: path of the class archive that the JVM writes when it ends. None: it
    writes none. Raises `AuditError` ``java_missing``, ``connector_missing``, ``connector_damaged`` or ``spark_failed``.
    """
    import pyspark
    from pyspark.sql import SparkSession

    # Workers must run the same Python as the driver, not the "python3" on the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if SUBMITTED in os.environ:
        settings = _submitted(resources)
    else:
        settings = {**_own(resources, output, pyspark.__version__, record), **_NEEDED, **resources.conf}
    builder = SparkSession.builder.appName("kafka_dr_audit")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise AuditError("spark_failed", f"Spark did not start ({where(resources)}): {_first(error)}") from error
    session.sparkContext.setLogLevel("ERROR")
    session.sparkContext.addPyFile(str(_package(output)))
    return session


def _submitted(resources: Resources) -> dict[str, str]:
    """Return the settings for a start by ``spark-submit``, whose arguments define the master and the connector."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # otherwise SparkConf does not have the submitted settings
    submitted = SparkConf()
    if not any(submitted.get(name, "") for name in ("spark.jars", "spark.jars.packages")):
        raise AuditError(
            "connector_missing",
            f"spark-submit was started without the Kafka connector. Add --jars {','.join(CONNECTORS[SPARK])} with "
            f"their folders, or --packages org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK}.",
        )
    return {**_NEEDED, **resources.conf}


def end(session: Any, seconds: float) -> None:
    """Stop Spark, and wait up to ``seconds`` for the end of its JVM, which otherwise ends after this process."""
    context = session.sparkContext
    session.stop()
    machine = context._gateway.proc
    machine.stdin.close()
    machine.wait(seconds)


def _own(resources: Resources, output: Path, version: str, record: Path | None) -> dict[str, str]:
    """Return the settings that the JVM reads when it starts."""
    kept = archive()
    shared = f"-XX:ArchiveClassesAtExit={record}" if record else f"-XX:SharedArchiveFile={kept}"
    options = [
        "-XX:+UseParallelGC",
        # Records live only briefly. With half of the heap for young objects, collecting them takes a tenth of the time.
        f"-Xms{resources.driver_memory}",
        "-XX:NewRatio=1",
        *(["-XX:TieredStopAtLevel=1"] if resources.records is not None and resources.records <= FEW_RECORDS else []),
        f"-Dlog4j2.configurationFile=file:{_logging(output)}",
        # "off": the JVM ignores an archive that does not match, and a warning about that would only worry the user.
        *([shared, "-Xlog:cds=off", "-Xlog:cds+dynamic=off"] if record or kept.exists() else []),
    ]
    return {
        "spark.master": resources.master or LOCAL,
        "spark.driver.memory": resources.driver_memory,
        "spark.driver.extraJavaOptions": " ".join(options),
        **_connector(resources, version),
    }


def _connector(resources: Resources, version: str) -> dict[str, str]:
    found = _found(resources, version)
    if "spark.jars" in found and (resources.master or LOCAL).startswith("local"):
        # On the class path of the only JVM, because a class archive covers nothing else.
        return {"spark.driver.extraClassPath": found["spark.jars"].replace(",", os.pathsep)}
    return found


def _found(resources: Resources, version: str) -> dict[str, str]:
    folder = resources.jars or default_cache(version) / "jars"
    if any(name in resources.conf for name in ("spark.jars", "spark.jars.packages")):
        return {}
    pinned = CONNECTORS.get(version)
    if pinned is None and resources.jars is None:
        coordinates = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version}"
        return {
            "spark.jars.packages": coordinates,
            "spark.jars.ivy": str(default_cache(version)),
        }
    if pinned is None:
        return {"spark.jars": ",".join(str(path) for path in _matching(folder, version))}
    if resources.jars is None and not all((folder / name).exists() for name in pinned):
        _download(folder, pinned)
    return {"spark.jars": ",".join(str(path) for path in _verified(folder, version))}


def _matching(folder: Path, version: str) -> list[Path]:
    found = sorted(folder.glob("*.jar"))
    if not any(path.name == f"spark-sql-kafka-0-10_2.13-{version}.jar" for path in found):
        there = ", ".join(path.name for path in found if path.name.startswith("spark-sql-kafka")) or "no such jar"
        raise AuditError(
            "connector_missing",
            f"{folder} must contain spark-sql-kafka-0-10_2.13-{version}.jar, the connector of this Spark; found"
            f" {there}.",
        )
    return found


def _verified(folder: Path, version: str) -> list[Path]:
    pinned = CONNECTORS[version]
    paths = [folder / name for name in pinned]
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        there = ", ".join(sorted(path.name for path in folder.glob("*.jar"))) or "no jar"
        raise AuditError(
            "connector_missing",
            f"{folder} lacks {', '.join(missing)}, the Kafka connector of Spark {version}; found {there}.",
        )
    for path in paths:
        with path.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        if digest != pinned[path.name]:
            raise AuditError(
                "connector_damaged", f"{path} has the SHA-256 {digest}, wanted {pinned[path.name]}. Delete the file."
            )
    return paths


def _download(folder: Path, pinned: Mapping[str, str]) -> None:
    """Download the connector with PySpark's Ivy, into a temporary folder first, so that a failure leaves no files."""
    import pyspark

    folder.mkdir(parents=True, exist_ok=True)
    ivy = sorted(Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))
    if not ivy:
        raise AuditError("connector_missing", f"This PySpark has no Ivy. Put {', '.join(pinned)} into {folder}.")
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        description = Path(work, "ivy.xml")
        description.write_text(_ivy_module(pinned))
        pattern = str(Path(work, "lib", "[artifact]-[revision].[ext]"))
        command = ["java", "-jar", str(ivy[-1]), "-ivy", str(description), "-cache", str(Path(work, "cache"))]
        run = subprocess.run(
            [*command, "-confs", "default", "-types", "jar", "-retrieve", pattern],
            capture_output=True,
            text=True,
            check=False,
        )
        fetched = {path.name: path for path in Path(work, "lib").glob("*.jar")}
        if run.returncode or set(pinned) - set(fetched):
            reported = [
                line.strip() for line in run.stdout.splitlines() if "UNRESOLVED" in line or "ERROR" in line.upper()
            ]
            raise AuditError(
                "connector_missing",
                f"The Kafka connector could not be downloaded ({(reported or ['Ivy failed'])[0]}). Give this machine "
                "access to Maven Central over https, or use a folder (--jars, kafka_dr_spark_jars) that contains "
                f"{', '.join(pinned)}.",
            )
        for name in pinned:
            # Atomic: another audit may be starting with the same cache.
            shutil.move(fetched[name], folder / f".{name}.{os.getpid()}")
            (folder / f".{name}.{os.getpid()}").replace(folder / name)


def _ivy_module(pinned: Iterable[str]) -> str:
    line = '<dependency org="{}" name="{}" rev="{}" conf="default->master" transitive="false"/>'
    kafka, spark = "org.apache.kafka", "org.apache.spark"
    organisations = {"kafka-clients": kafka, "commons-pool2": "org.apache.commons"}
    parts = [re.fullmatch(r"(.+)-(\d[\d.]*)\.jar", name) for name in pinned]
    wanted = [(organisations.get(part[1], spark), part[1], part[2]) for part in parts if part]
    return (
        '<ivy-module version="2.0"><info organisation="switchback" module="kafka_dr_audit"/>'
        '<configurations><conf name="default"/></configurations><dependencies>'
        + "".join(line.format(*item) for item in wanted)
        + "</dependencies></ivy-module>"
    )


@functools.cache
def _java() -> str:
    """Return an identifier of this Java for a file name. Raises `AuditError` ``java_missing``."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    try:
        reported = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.SubprocessError):
        raise AuditError(
            "java_missing", f"Spark needs Java {JAVA} or newer, but {java} cannot be run. Install it, or set JAVA_HOME."
        ) from None
    found = re.search(r'version "(\d+)', reported)
    if not found or int(found[1]) < JAVA:
        first = (reported.splitlines() or ["no version"])[0]
        raise AuditError(
            "java_missing", f"Spark needs Java {JAVA} or newer, but {java} reports {first}. Set JAVA_HOME."
        )
    return f"java-{found[1]}-{hashlib.sha256(reported.encode()).hexdigest()[:12]}"


def check_python() -> None:
    """Raise `AuditError` ``python_lacks`` if a Python package is missing. Call it before importing the audit."""
    missing = [name for name in ("numpy", "pandas", "pyarrow", "pyspark") if importlib.util.find_spec(name) is None]
    if missing:
        raise AuditError(
            "python_lacks", f"{sys.executable} lacks {', '.join(missing)}. Install them, see docs/audit.md."
        )


def _logging(output: Path) -> Path:
    """Configure Spark to log to a file, so that the console shows only the audit."""
    path = output / "log4j2.properties"
    path.write_text(
        "rootLogger.level = warn\nrootLogger.appenderRef.file.ref = file\nappender.file.type = File\n"
        f"appender.file.name = file\nappender.file.fileName = {output / 'spark.log'}\nappender.file.append = false\n"
        "appender.file.layout.type = PatternLayout\n"
        "appender.file.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSS} %p %c{1}: %m%n%ex\n"
    )
    return path


def _package(output: Path) -> Path:
    """Write this package as a zip, for workers that do not have it."""
    path = output / "kafka_dr_audit.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for module in sorted(Path(__file__).parent.glob("*.py")):
            archive.write(module, f"kafka_dr_audit/{module.name}")
    return path


def _first(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
