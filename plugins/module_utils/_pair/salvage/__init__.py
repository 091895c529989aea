# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tail of a lost cluster that has come back: records that it acknowledged and that were never replicated.

``finding`` finds the tail, ``export`` writes it to files, ``replay`` replays it, ``workflow`` executes a request.

Private to this collection: may change in any release.
"""
