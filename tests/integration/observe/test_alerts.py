# SPDX-License-Identifier: BSD-3-Clause
"""The alerts for Prometheus: each comes when it should, and none of what is no fault."""

import re
import subprocess

from needs import needs_program
from project_scripts import PROJECT

RULES = PROJECT / 'packaging' / 'prometheus' / 'netfc.rules.yml'
TESTS = PROJECT / 'tests' / 'integration' / 'observe' / 'alerts.test.yml'

pytestmark = needs_program('promtool')


def promtool(*arguments):
    done = subprocess.run(['promtool', *arguments], text=True, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def alerts(text):
    return re.findall(r'- alert: (\w+)', text)


def test_the_rules_are_valid():
    assert f'{len(alerts(RULES.read_text()))} rules found' in promtool('check', 'rules', RULES)


def test_alerts_with_known_answers():
    promtool('test', 'rules', TESTS)


def test_each_alert_is_tested_and_said_what_to_do_about():
    text, tests = RULES.read_text(), TESTS.read_text()
    for alert in text.split('- alert: ')[1:]:
        name = alert.partition('\n')[0]
        assert re.search(rf'alertname: {name}\n *eval_time: \w+\n *exp_alerts:\n', tests), name
        assert 'severity: ' in alert and 'summary: ' in alert and 'description: ' in alert, name


def test_a_wrong_answer_is_found(tmp_path):
    """The tests of rules would not pass of themselves."""
    text = TESTS.read_text().replace('[../../../packaging/prometheus/netfc.rules.yml]', f'[{RULES}]')
    path = tmp_path / 'alerts.test.yml'
    path.write_text(text.replace('a loses 7 packets/s', 'a loses 8 packets/s'))
    done = subprocess.run(['promtool', 'test', 'rules', path], text=True, capture_output=True, timeout=600,
                          check=False)
    assert done.returncode == 1 and 'NetfcLosesPackets' in done.stdout + done.stderr
