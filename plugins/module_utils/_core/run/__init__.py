# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of a cutover on its controller: what it moves, what happened, and everything that follows from that. Pure.

Private to this collection: may change in any release.
"""
