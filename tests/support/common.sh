# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Shared by the scripts of the Makefile: source it, it runs nothing by itself.

say() { printf '==> %s\n' "$*"; }

# fail WHAT [NEXT STEP]
fail() {
    printf 'ERROR: %s\n' "$1" >&2
    if (($# > 1)); then printf '       %s\n' "${@:2}" >&2; fi
    exit 1
}

cache_dir() { printf '%s\n' "${KAFKA_DR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/switchback.kafka_dr}"; }

# with_progress LOG COMMAND...: run quietly, report every ten seconds that it runs, show the log's end if it fails.
with_progress() {
    local log=$1 started=$SECONDS next=10 result=0
    shift
    mkdir -p "$(dirname -- "$log")"
    "$@" >"$log" 2>&1 &
    local job=$!
    # An interrupted make must not leave the command running.
    trap 'kill "$job" 2>/dev/null || true; exit 130' INT TERM
    while kill -0 "$job" 2>/dev/null; do
        if ((SECONDS - started >= next)); then
            printf '    ... %d s  %s\n' "$((SECONDS - started))" "$(last_line "$log")"
            next=$((next + 10))
        fi
        sleep 0.2
    done
    wait "$job" || result=$?
    trap - INT TERM
    if ((result)); then
        tail -n 30 "$log" >&2
        fail "$* ended with code $result. The whole log: $log"
    fi
    printf '    done in %d s\n' "$((SECONDS - started))"
}

last_line() { tail -n 1 "$1" | tr -d '\r' | cut -c 1-90; }

# On Debian and Ubuntu, as root, missing system packages are installed instead of only reported.
can_apt_install() { [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; }

apt_install() {
    say "installing the system package $1 with apt-get"
    with_progress "build/logs/apt.log" bash -c "apt-get update && DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends $1"
}

# copy_checkout FOLDER: tracked and new files, without ignored ones.
copy_checkout() {
    rm -rf "$1"
    mkdir -p "$1"
    # A file deleted but not yet committed is still listed: leave out missing files.
    git ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do [[ -e "$file" ]] && printf '%s\0' "$file"; done |
        tar --create --null --files-from=- | tar --extract --directory="$1"
}

# note_skip WHO WHAT: print WHAT was skipped again at the end of `make test`. An empty WHAT removes the note of WHO.
note_skip() {
    mkdir -p build/skipped
    rm -f "build/skipped/$1"
    [[ -z $2 ]] || tee "build/skipped/$1" <<<"$1: $2"
}
