# SPDX-License-Identifier: BSD-3-Clause
"""The page that netfc-exporter serves, in a browser, and the dashboard for Grafana."""

import json
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import numpy
import pytest

import aggregation_workers as workers
import dashboard
import frames
import hosts
import project_scripts
import sanitized
import switch
import tcp_frames
from browser import Browser, DESK, PHONE, needs_browser
from exporter import Exporter
from needs import needs_program

from netfc import allreduce, metrics

GRAFANA = project_scripts.PROJECT / 'packaging' / 'grafana' / 'netfc.json'
LOAD_S = 4
RATES = 'return /^[1-9]/.test(document.querySelector(".tile p")?.textContent)'
SHOWN = 'return !document.getElementById("main").hidden'
ALL = ['--match', 'direct', '--latency', '--forward', 'bridge', '--slowloris', '--slowloris-time', '0',
       '--slowloris-connections', '10']


pytestmark = pytest.mark.xdist_group('dashboard')  # one process starts the switch


@pytest.fixture(name='running', scope='module')
def attacked_switch(tmp_path_factory):
    """A switch with requests, and a destination under attack."""
    requests = [frames.plain_frame(frames.lanes(count)) for count in range(1, 65)]
    requests.append(frames.plain_frame(frames.request(version=2)))
    requests += [frames.plain_frame(frames.request(op)) for op in (5, 8, 8)]
    requests += [frame for client in range(20)
                 for frame in tcp_frames.handshake(tcp_frames.address(client), 2000)]
    live = switch.Running(tmp_path_factory.mktemp('pages'), requests, ALL,
                          vdevs=['net_null0,no-rx=1'], telemetry=True)
    live.wait_until_busy()
    with Exporter(live.telemetry_path) as exporter:
        exporter.get('state')
        yield live, exporter
    live.stop()


@needs_browser
def test_the_page_shows_the_switch(running, browser):
    _, exporter = running
    browser.open(exporter.url)
    browser.wait(RATES, 'rates')
    text = browser.run('return document.body.innerText')
    for part in ('match direct', 'forward bridge', 'fp16_k1024', 'net_pcap0', 'refused: version',
                 'flag: overflow', 'Heights are logarithmic', '10.0.0.2'):
        assert part in text, part
    operations = browser.run('return [...document.querySelectorAll("#operations th[scope=row]")]'
                             '.map((at) => at.textContent)')
    assert operations == ['fma', 'min']
    assert 'Aggregation' not in text
    assert browser.run('return document.querySelectorAll("#latency i").length') > 3
    assert browser.console() == [] and browser.nameless() == []
    assert {url for url in browser.requests() if not url.startswith('file:')} == \
        {exporter.url + path for path in ('', 'page.css', 'page.js', 'state')}


@needs_browser
def test_the_first_view_says_of_no_rate_that_it_is_0(running, browser):
    """Two states make a rate; one does not, and of a switch under load 0 would be wrong."""
    _, exporter = running
    browser.open(exporter.url)
    browser.wait(RATES, 'rates')
    first = browser.run('before = null; states.length = 0; show(JSON.parse(arguments[0]));'
                        'return [...document.querySelectorAll(".tile p")].map((at) => at.textContent)',
                        exporter.get('state'))
    assert first[:5] == 5 * ['– /s']
    assert browser.run('return [...document.querySelectorAll("#drops tbody td:last-child, #operations tbody '
                       'td:last-child")].every((at) => at.textContent === "–")')


@needs_browser
@pytest.mark.parametrize('width', [PHONE, DESK])
def test_it_fits_the_screen(running, browser, width):
    browser.resize(width)
    browser.open(running[1].url)
    browser.wait(SHOWN, 'page')
    assert browser.overflow() == 0
    browser.resize(DESK)


@needs_browser
@pytest.mark.parametrize('width', [PHONE, 600, 768, 1040, DESK])
def test_tiles_fill_their_rows(running, browser, width):
    """No hole beside the last tile, none in a tile."""
    browser.resize(width)
    browser.open(running[1].url)
    browser.wait(SHOWN + ' && document.querySelector(".tile polyline").getAttribute("points")', 'lines')
    right, tiles = browser.run(
        'return [document.getElementById("tiles").getBoundingClientRect().right,'
        ' [...document.querySelectorAll(".tile")].map((at) => [at.getBoundingClientRect().right,'
        ' at.getBoundingClientRect().height, at.querySelectorAll("polyline").length])]')
    assert tiles[-1][0] == pytest.approx(right, abs=1) and len(tiles) == 6
    assert {height for _, height, _ in tiles} == {tiles[0][1]} and {lines for *_, lines in tiles} == {1}
    browser.resize(DESK)


@needs_browser
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_both_schemes_on_a_phone(running, browser, scheme):
    """Texts can be read, and a table that goes on beyond the edge shows it there, until it is scrolled."""
    browser.prefer(scheme)
    browser.resize(PHONE)
    browser.open(running[1].url)
    browser.wait(SHOWN, 'page')
    assert browser.faint() == []
    page = browser.run('return getComputedStyle(document.body).backgroundColor')
    assert (sum(map(int, re.findall(r'\d+', page))) < 384) == (scheme == 'dark')
    assert browser.run('const box = document.querySelector("#sets").parentElement;'
                       'box.className += " watched"; return box.scrollWidth > box.clientWidth')
    shaded = browser.pixels('.watched', 2)
    browser.run('const box = document.querySelector(".watched"); box.scrollLeft = box.scrollWidth')
    plain = browser.pixels('.watched', 2)
    assert abs(numpy.median(shaded) - numpy.median(plain)) > 0.1
    browser.prefer('')
    browser.resize(DESK)


def test_the_page_needs_no_package_of_prometheus(running, tmp_path):
    """It is said what /metrics needs, on stderr and there."""
    live, _ = running
    (tmp_path / 'prometheus_client.py').write_text(
        'raise ModuleNotFoundError("No module named", name="prometheus_client")\n')
    with Exporter(live.telemetry_path, environment={'PYTHONPATH': str(tmp_path)}) as exporter:
        assert json.loads(exporter.get('state'))['up'] and '<html' in exporter.get('')
        with pytest.raises(urllib.error.HTTPError) as raised:
            exporter.scrape()
        said = raised.value.read().decode()
        raised.value.close()
        assert raised.value.code == 501 and 'install python3-prometheus-client' in said
        assert exporter.first_line() == f'netfc-exporter: {said}'


@needs_browser
def test_the_title_says_when_the_switch_is_gone(browser, tmp_path):
    live = switch.Running(tmp_path, [frames.plain_frame(frames.lanes(1))], ['--match', 'direct'],
                          telemetry=True)
    live.wait_until_busy()
    with Exporter(live.telemetry_path) as exporter:
        exporter.get('state')
        browser.open(exporter.url)
        browser.wait(SHOWN, 'page')
        assert browser.driver.title == 'dpdk-netfc'
        live.stop()
        browser.wait('return document.title === "No answer: dpdk-netfc"', 'title')
        assert not browser.run('return document.getElementById("alert").hidden')


@needs_browser
@hosts.needs_namespaces
def test_figures_are_the_final_report_s(browser, tmp_path):
    """Under load, with a hundred pages open; tests/exhaustive/test_pages.py takes five minutes."""
    took = dashboard.assert_figures_are_the_report_s(browser, tmp_path, LOAD_S)
    assert len(took) >= dashboard.READERS * 2


@needs_browser
@hosts.needs_namespaces
@pytest.mark.skipif(sanitized.is_sanitized(), reason='the client needs the environment of a sanitizer')
def test_a_job_that_waits_to_begin(browser, tmp_path):
    """Two of three workers have joined: the page says which has not."""
    def join(worker):
        with host.entered(), pytest.raises(allreduce.AllreduceError, match='Not all 3 workers'):
            allreduce.Communicator(hosts.SWITCH_IP, worker=worker, workers=3, token=7, job=5,
                                   join_timeout=6, build=switch.BUILD)

    with dashboard.served(tmp_path) as (host, live, exporter):
        host.ping(hosts.SWITCH_IP, count=1)
        threads = [threading.Thread(target=join, args=(worker,)) for worker in (0, 2)]
        for thread in threads:
            thread.start()
        browser.open(exporter.url)
        browser.wait('return document.querySelector("#jobs tbody")?.textContent.startsWith("531none")', 'job')
        assert browser.run('return [...document.querySelectorAll("#jobs td")].map((at) => at.textContent)'
                           )[:3] == ['3', '1', 'none']
        for thread in threads:
            thread.join()
        live.stop()


@needs_browser
@hosts.needs_namespaces
def test_a_worker_that_others_wait_for(browser, tmp_path):
    with dashboard.served(tmp_path, ['--aggregate=stall=1']) as (host, live, exporter):
        team = [workers.Worker(host.udp(), hosts.SWITCH_IP, number) for number in range(3)]
        workers.join_all(team)
        browser.open(exporter.url)

        def named():
            for worker in (0, 2):
                team[worker].send_chunk(0, bytes(4))
            return browser.run('return document.querySelectorAll("#jobs td")[6]?.textContent') == '1'

        hosts.wait_until(named, 'worker 1 to be named')
        team[1].send_chunk(0, bytes(4))
        slowest = 'return document.querySelectorAll("#jobs td")[7]?.textContent'
        hosts.wait_until(lambda: re.fullmatch(r'1, \d+\.\d s', browser.run(slowest) or ''), 'what it took')
        live.stop()


@needs_browser
def test_a_switch_that_is_away(tmp_path):
    with Exporter(tmp_path / '<b>nothing</b>') as exporter, Browser() as browser:
        exporter.get('state')
        browser.open(exporter.url)
        browser.wait('return !document.getElementById("alert").hidden', 'message')
        said = browser.text('#alert')
        assert said.startswith('The switch does not answer: ') and '<b>nothing</b>' in said
        assert browser.run('return document.querySelector("b")') is None and browser.console() == []


@needs_browser
def test_nothing_that_the_switch_says_becomes_markup(browser, tmp_path):
    """Names from a switch, or from who is in its place, are shown as text."""
    markup = '<img src=x onerror="document.title=1">'
    live = switch.Running(tmp_path, [frames.plain_frame(frames.lanes(1))], ['--match', 'direct'],
                          telemetry=True)
    live.wait_until_busy()
    with Exporter(live.telemetry_path) as exporter:
        state = json.loads(exporter.get('state'))
        live.stop()
        state['config']['forward'] = state['config']['version'] = markup
        state['tables'] = {markup: {**state['tables']['fp16'], 'set': markup}}
        state['stats']['drops'] = {markup: 1}
        state['lcores'][0]['paths'] = [markup]
        browser.command('Page.enable')
        identifier = browser.command('Page.addScriptToEvaluateOnNewDocument', source=(
            f'window.fetch = async () => new Response({json.dumps(json.dumps(state))});'))['identifier']
        browser.open(exporter.url)
        browser.wait(SHOWN, 'page')
        assert browser.run('return document.body.innerText').count(markup) >= 4
        assert browser.run('return document.querySelector("img")') is None
        assert browser.driver.title == 'dpdk-netfc'
        browser.command('Page.removeScriptToEvaluateOnNewDocument', identifier=identifier)


def test_what_is_not_there(running):
    _, exporter = running
    for path in ('favicon.ico', '../../../etc/passwd', 'page.html', '%2e%2e/metrics.py', 'state/'):
        with pytest.raises(urllib.error.HTTPError) as raised:
            exporter.get(path)
        assert raised.value.code == 404
        raised.value.close()
    request = urllib.request.Request(exporter.url + 'state', data=b'x', method='POST')
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(request, timeout=200)
    assert raised.value.code == 405
    raised.value.close()


def test_who_connects_and_says_nothing_holds_nobody_up(running):
    _, exporter = running
    port = int(exporter.url.rpartition(':')[2].strip('/'))
    silent = [socket.create_connection(('127.0.0.1', port)) for _ in range(50)]
    start = time.monotonic()
    assert json.loads(exporter.get('state'))['up'] and time.monotonic() - start < 5
    for connection in silent:
        connection.close()


def test_the_switch_is_asked_once_a_second_however_many_ask(running):
    """Answers within a second are the same: the switch is not asked again."""
    _, exporter = running
    texts, begun = [], time.monotonic()
    while time.monotonic() < begun + 2 or len(texts) <= 20:
        texts.append(exporter.get('state'))
    assert len(set(texts)) <= time.monotonic() - begun + 2


# ---- Prometheus, Grafana ---------------------------------------------------------------------


def expressions():
    """(panel's title, expression, legend) of each target of the dashboard."""
    panels = json.loads(GRAFANA.read_text())['panels']
    return [(panel['title'], target['expr'], target['legendFormat'])
            for panel in panels for target in panel.get('targets', ())]


@pytest.fixture(name='exported', scope='module')
def exported_metrics(tmp_path_factory):
    """What the exporter has of a switch with everything: labels by name of metric."""
    stations = ['--address', '10.9.9.9/24', '--aggregate', 'slots=16']
    live = switch.Running(tmp_path_factory.mktemp('everything'), [frames.plain_frame(frames.lanes(1))],
                          [*ALL, *stations], vdevs=['net_null0,no-rx=1'], telemetry=True)
    try:
        live.wait_until_busy()
        families = list(metrics.registry_for(live.telemetry_path).collect())
    finally:
        live.stop()
    suffixes = {'counter': ['_total'], 'info': ['_info'], 'histogram': ['_bucket', '_sum', '_count'],
                'gauge': ['']}
    labels = {family.name + suffix: set(getattr(family, '_labelnames', ()))
              for family in families for suffix in suffixes[family.type]}
    labels['netfc_latency_seconds_bucket'] = {'le'}
    labels['netfc_switch_info'] = {'version', 'dpdk', 'match', 'forward'}
    return labels


def test_the_handbook_lists_what_is_exported(exported):
    """The names are stable, so each is in the list."""
    text = (project_scripts.PROJECT / 'docs' / 'monitoring.md').read_text()
    listed = re.findall(r'`(netfc_[\w*]+)`', text.split('Names of metrics are stable:')[1].split('\n\n')[1])
    patterns = [re.compile(name.replace('*', r'\w+') + '(_bucket|_sum|_count)?') for name in listed]
    names = [*exported, 'netfc_aggregate_parent_state',
             *(f'netfc_aggregate_parent_{name}_total' for name in metrics.PARENT_COUNTERS)]
    assert [name for name in names if not any(pattern.fullmatch(name) for pattern in patterns)] == []


def test_alerts_ask_for_what_is_exported(exported):
    """Every metric, and every label that is asked for or shown."""
    known = {**exported, 'netfc_aggregate_parent_state': {'parent', 'state'},  # of a leaf, and without a switch
             'netfc_down_info': {'reason'}}
    rules = (project_scripts.PROJECT / 'packaging' / 'prometheus' / 'netfc.rules.yml').read_text()
    for rule in rules.split('- alert: ')[1:]:
        names = set(re.findall(r'\bnetfc_\w+', rule))
        assert names and names <= known.keys(), names - known.keys()
        labels = {'instance'}.union(*(known[name] for name in names))
        used = set(re.findall(r'\$labels\.(\w+)', rule)) | set(re.findall(r'[{,](\w+)=~?"', rule))
        assert used <= labels, used - labels


def test_grafana_asks_for_what_is_exported(exported):
    """Every metric, and every label that is grouped by or shown."""
    asked = set()
    for title, expression, legend in expressions():
        names = set(re.findall(r'\bnetfc_\w+', expression))
        assert names and names <= exported.keys(), (title, names - exported.keys())
        known = {'instance'}.union(*(exported[name] for name in names))
        groups = re.findall(r'by \(([^)]*)\)', expression)
        used = {label.strip() for group in groups for label in group.split(',')}
        shown = set(re.findall(r'{{(\w+)}}', legend))
        assert used | shown <= known, (title, (used | shown) - known)
        assert not groups or shown <= used | {'instance'}, title
        asked |= names
    assert len(asked) > 30


def test_grafana_has_every_group_of_metrics(exported):
    """A drop, an error, a job: whatever is counted in groups is in a panel."""
    asked = set(re.findall(r'netfc_\w+', ' '.join(expression for _, expression, _ in expressions())))
    grouped = {name for name, labels in exported.items() if labels - {'lcore', 'index', 'job', 'port', 'device'}}
    assert grouped <= asked


@needs_program('promtool')
def test_prometheus_takes_the_expressions(tmp_path):
    rules = [{'record': f'panel:{number}', 'expr': expression.replace('$__rate_interval', '1m')
              .replace('$instance', '.*')} for number, (_, expression, _) in enumerate(expressions())]
    path = tmp_path / 'rules.json'
    path.write_text(json.dumps({'groups': [{'name': 'panels', 'rules': rules}]}))
    checked = subprocess.run(['promtool', 'check', 'rules', path], capture_output=True, text=True,
                             timeout=600, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_panels_do_not_overlap():
    """Grafana would move them."""
    cells = [(x, y) for panel in json.loads(GRAFANA.read_text())['panels'] for at in [panel['gridPos']]
             for x in range(at['x'], at['x'] + at['w']) for y in range(at['y'], at['y'] + at['h'])]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24
