# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2034 # the sourcing script uses ENGINE_WHY
#
# Source it after common.sh. engine_start provides a Docker engine: a running one, or, as root, one of our own. If
# neither is possible, ENGINE_WHY has the reason. engine_stop stops our own. Images stay in ENGINE_DATA.

ENGINE_DATA=build/docker
ENGINE_WHY=
ENGINE_PID=
ENGINE_RUN=
ENGINE_LOG=build/logs/dockerd.log

engine_answers() { docker version >/dev/null 2>&1; }

engine_start() {
    if engine_answers; then return 0; fi
    if [[ $(id -u) -ne 0 ]]; then
        ENGINE_WHY='no Docker engine answers, and only root can start one'
        return 1
    fi
    # If systemd runs, the package would start an engine that stays.
    if ! command -v dockerd >/dev/null && { ! can_apt_install || [[ -d /run/systemd/system ]]; }; then
        ENGINE_WHY='no Docker engine answers, and dockerd is not installed (Debian, Ubuntu: apt-get install docker.io)'
        return 1
    fi
    command -v dockerd >/dev/null || (RUNLEVEL=1 apt_install docker.io) || true
    engine_spawn && return 0
    # This also detects a failed installation.
    ENGINE_WHY="dockerd did not start: $(grep -v level=info "$ENGINE_LOG" 2>/dev/null | tail -n 1 | cut -c 1-300)"
    engine_stop
    return 1
}

# It does not change this machine's packet filter and routes: the scenario's networks have and need no route out.
engine_spawn() {
    mkdir -p "$ENGINE_DATA" "$(dirname -- "$ENGINE_LOG")"
    # Socket paths must be short.
    ENGINE_RUN=$(mktemp -d "${TMPDIR:-/tmp}/kafka-dr-docker.XXXX")
    export DOCKER_HOST=unix://$ENGINE_RUN/socket
    # Its own session: Ctrl-C must not end it before the containers are gone.
    setsid dockerd --storage-driver=overlay2 --data-root="$PWD/$ENGINE_DATA" --exec-root="$ENGINE_RUN/exec" \
        --pidfile="$ENGINE_RUN/pid" --host="$DOCKER_HOST" --bridge=none --iptables=false --ip-forward=false \
        --ip-masq=false >"$ENGINE_LOG" 2>&1 &
    ENGINE_PID=$!
    local until=$((SECONDS + 60))
    while kill -0 "$ENGINE_PID" 2>/dev/null && ((SECONDS < until)); do
        if engine_answers; then return 0; fi
        sleep 0.2
    done
    return 1
}

engine_stop() {
    [[ -n $ENGINE_PID ]] || return 0
    kill "$ENGINE_PID" 2>/dev/null || true
    wait "$ENGINE_PID" || true
    # After a container in the network of this machine, dockerd leaves this mount.
    umount "$ENGINE_RUN/exec/netns/default" 2>/dev/null || true
    rm -rf "$ENGINE_RUN"
    ENGINE_PID=
    unset DOCKER_HOST
}
