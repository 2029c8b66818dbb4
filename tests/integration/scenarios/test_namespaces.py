# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstrations in network namespaces need of the machine."""

import subprocess

import namespaces
from needs import needs_namespaces


@needs_namespaces
def test_system_programs_are_found_by_users_who_have_none_in_their_path(monkeypatch):
    """As on Debian, where /usr/sbin is in the PATH of root alone."""
    monkeypatch.setenv('PATH', '/usr/local/bin:/usr/bin:/bin')
    with namespaces.Namespace() as namespace:
        assert namespace.run('ethtool', '--version').startswith('ethtool ')
        process = namespace.start('ethtool', '--version', stdout=subprocess.PIPE, env={})
        assert process.communicate()[0].startswith('ethtool ')
