#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Install what `make kerberos` needs: a KDC, and a Python environment whose confluent-kafka has Kerberos. If they exist,
# it returns at once. The wheels of confluent-kafka have no GSSAPI, and the librdkafka of Debian 12 is too old to build one against.
# The sources of a newer one are in an npm package.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

# One release: confluent-kafka needs a librdkafka that is not older, and npm has none for the pin in requirements.txt.
NPM_PACKAGE=@confluentinc/kafka-javascript@1.10.1
NPM_FILE=confluentinc-kafka-javascript-1.10.1.tgz
NPM_SHA256=ada7d703bb1d3237e2292bfabf438d663b6160c9f1ac2a2406b5dc4257c81b66
PIP_PINS=tests/support/kerberos.txt

TOP=$PWD/build/kerberos
VENV=$TOP/venv
BASE=$(command -v python)

# Each requirement, and the Debian package that provides it.
# shellcheck disable=SC2191 # these are words, not indices
NEEDED=(
    program:krb5kdc=krb5-kdc program:kdb5_util=krb5-kdc program:kadmin.local=krb5-admin-server program:kinit=krb5-user
    program:gcc=gcc program:g++=g++ program:make=make program:npm=npm
    header:sasl/sasl.h=libsasl2-dev header:openssl/ssl.h=libssl-dev header:zlib.h=zlib1g-dev header:zstd.h=libzstd-dev
    plugin:libgssapiv2.so=libsasl2-modules-gssapi-mit python:Python.h=python3-dev
)

is_there() {
    case $1 in
    program:*) command -v "${1#*:}" ;;
    header:*) echo "#include <${1#*:}>" | gcc -E -xc - ;;
    plugin:*) compgen -G "/usr/lib*/*/sasl2/${1#*:}" || compgen -G "/usr/lib*/sasl2/${1#*:}" ;;
    python:*) [[ -f "$(python -c 'import sysconfig; print(sysconfig.get_path("include"))')/${1#*:}" ]] ;;
    esac >/dev/null 2>&1
}

missing() {
    local item
    for item in "${NEEDED[@]}"; do
        is_there "${item%=*}" || echo "${item#*=}"
    done | sort -u
}

system_packages() {
    local packages
    # The programs of a KDC are only for root, in folders outside other users' PATH.
    export PATH=$PATH:/usr/sbin:/sbin
    mapfile -t packages < <(missing)
    # Check again whether the installation succeeded.
    if ((${#packages[@]})) && can_apt_install; then (apt_install "${packages[*]}") || true; fi
    mapfile -t packages < <(missing)
    ((${#packages[@]} == 0)) || fail "make kerberos needs Debian packages that are missing here: apt-get install ${packages[*]}"
}

fingerprint() { printf '%s %s %s\n' "$(cat tests/support/kerberos.sh "$PIP_PINS" | cksum)" "$BASE" "$PWD"; }

sources() {
    local kept
    kept=$(cache_dir)/$NPM_FILE
    if ! [[ -f $kept ]]; then
        mkdir -p "$(dirname -- "$kept")" "$TOP/download"
        say "kerberos: fetching the sources of librdkafka ($NPM_PACKAGE)"
        with_progress build/logs/kerberos-npm.log npm pack --silent --pack-destination "$TOP/download" "$NPM_PACKAGE"
        mv "$TOP/download/$NPM_FILE" "$kept"
    fi
    if ! echo "$NPM_SHA256  $kept" | sha256sum --check --status; then
        fail "$kept is not the file this version was made for (SHA-256). Remove it and try again."
    fi
    rm -rf "$TOP/source"
    mkdir -p "$TOP/source"
    tar -xzf "$kept" -C "$TOP/source" --strip-components 3 package/deps/librdkafka
}

librdkafka() {
    # Every requested feature must be found, or configure fails, so the result does not depend on installed packages.
    # Without optimization the build takes half the time, and no test here measures speed.
    cd "$TOP/source"
    ./configure --prefix="$TOP/librdkafka" --enable-gssapi --enable-ssl --enable-zlib --enable-zstd --disable-lz4-ext \
        --disable-curl --disable-optimization
    nice make -j1 -C src
    make -C src install
}

confluent_kafka() {
    # Not from pip's cache: a wheel built here has the path of its librdkafka.
    C_INCLUDE_PATH=$TOP/librdkafka/include LIBRARY_PATH=$TOP/librdkafka/lib LDFLAGS="-Wl,-rpath,$TOP/librdkafka/lib" \
        nice python -m pip wheel --no-cache-dir --no-deps --no-binary :all: --no-build-isolation --require-hashes \
        --requirement "$PIP_PINS" --wheel-dir "$TOP/wheels"
    python -m venv --clear --without-pip "$VENV"
    python -m pip --python "$VENV/bin/python" install --no-index --no-deps "$TOP"/wheels/confluent_kafka-*.whl
}

# All other packages come from the environment of the other tests, after the packages of this one.
layer() {
    local own
    own=$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$own/base.pth"
}

has_gssapi() { "$1" -c 'from confluent_kafka import Producer; Producer({"builtin.features": "sasl_gssapi", "log_level": 0})'; }

system_packages
if [[ -f $TOP/installed && "$(<"$TOP/installed")" == "$(fingerprint)" ]]; then exit 0; fi
rm -rf "$TOP"
mkdir -p "$TOP"
sources
say 'kerberos: building librdkafka with GSSAPI (some minutes)'
with_progress build/logs/kerberos-librdkafka.log librdkafka
say 'kerberos: building confluent-kafka against it'
with_progress build/logs/kerberos-confluent-kafka.log confluent_kafka
layer
has_gssapi "$VENV/bin/python" || fail "The confluent-kafka that was built has no GSSAPI: see build/logs/kerberos-librdkafka.log."
fingerprint >"$TOP/installed"
