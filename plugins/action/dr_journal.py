# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugin of all modules of the collection. meta/runtime.yml routes them here.

``ansible-test sanity`` requires that an action plugin has the name of a module. The name of this module is used because
a playbook runs it early. Ansible loads an action plugin before it forks only for a task of the same name, and later
tasks then do not load it again. The code is in plugin_utils/local_run.py.
"""

from __future__ import annotations

from ansible_collections.switchback.kafka_dr.plugins.plugin_utils.local_run import ActionModule

__all__ = ["ActionModule"]
