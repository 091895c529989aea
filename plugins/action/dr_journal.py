# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugin of every module of the collection: meta/runtime.yml routes them all here.

It is named after a module because ``ansible-test sanity`` requires a module of the same name. It is named after this
module because a playbook runs it early: Ansible loads an action plugin before it forks only for a task of the plugin's
own name, and later tasks then need not load it again. The code is in plugin_utils/local_run.py.
"""

from __future__ import annotations

from ansible_collections.switchback.kafka_dr.plugins.plugin_utils.local_run import ActionModule

__all__ = ["ActionModule"]
