// SPDX-License-Identifier: BSD-3-Clause
// The state of a switch, asked for each second. What the switch says goes into the page as text.
"use strict";

const EACH_MS = 1000;
const KEPT = 61; // states: a minute

const $ = (id) => document.getElementById(id);
const states = []; // the tiles' numbers of each, the latest last
let before = null; // the state before

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value) made.setAttribute(name, value);
  made.append(...children.map((child) => (typeof child === "object" ? child : String(child))));
  return made;
}

function setText(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function grouped(count) {
  return count.toLocaleString("en");
}

// Four digits at most, and a unit.
function short(number) {
  const [size, unit] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([least]) => number >= least) ?? [1, ""];
  return `${unit ? (number / size).toPrecision(4).slice(0, 5) : Math.round(number)}${unit}`;
}

function perSecond(rate) {
  return rate === null ? "–" : short(rate);
}

function percent(part, whole) {
  return whole ? `${(100 * part / whole).toFixed(1)} %` : "–";
}

function sum(counters) {
  return Object.values(counters).reduce((all, count) => all + count, 0);
}

function duration(seconds) {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].map(([size, unit], n, sizes) =>
    [Math.floor(n ? seconds % sizes[n - 1][0] / size : seconds / size), unit]);
  const first = Math.max(0, parts.findIndex(([count]) => count));
  return parts.slice(seconds ? first : 3, first + 2).map(([count, unit]) => `${count} ${unit}`).join(" ");
}

function timeText(seconds) {
  const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]].find(([least]) => seconds >= least) ?? [1e-9, "ns"];
  return `${Number((seconds / size).toPrecision(3))} ${unit}`;
}

function table(id, head, rows) {
  $(id).replaceChildren(...(rows.length ? [
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, n) =>
      (n ? element("td", {}, cell) : element("th", { scope: "row" }, cell)))))),
  ] : []));
}

// How fast something grows; null: there is no earlier state to tell it by.
function rate(state, read) {
  if (!before || state.time <= before.time) return null;
  return Math.max(0, (read(state) - read(before)) / (state.time - before.time));
}

const RATES = [
  ["Packets in", (state) => state.stats.rx_packets],
  ["Packets out", (state) => state.stats.tx_packets],
  ["NetFC requests", (state) => state.stats.netfc_packets],
  ["Lanes", (state) => state.stats.lanes],
  ["Dropped", (state) => sum(state.stats.drops) + state.stats.devices.rx_missed],
];

function line(values) {
  const most = Math.max(...values, 1), svg = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(svg, "svg"), drawn = document.createElementNS(svg, "polyline");
  picture.setAttribute("viewBox", `0 0 ${KEPT - 1} 32`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("aria-hidden", "true");
  drawn.setAttribute("points", values.map((value, n) =>
    `${KEPT - values.length + n},${(31 - 30 * value / most).toFixed(2)}`).join(" "));
  picture.append(drawn);
  return picture;
}

function showTiles(state) {
  const used = state.stats.mbufs_in_use;
  if (before) states.push([...RATES.map(([, read]) => rate(state, read)), used]);
  if (states.length > KEPT) states.shift();
  const tile = (name, n, text, unit, warn) => element("div", { class: warn ? "tile warn" : "tile" },
    element("h2", {}, name), element("p", {}, text, element("small", {}, ` ${unit}`)), line(states.map((all) => all[n])));
  $("tiles").replaceChildren(...RATES.map(([name], n) => {
    const now = states.at(-1)?.[n] ?? null;
    return tile(name, n, perSecond(now), "/s", name === "Dropped" && now > 0);
  }), tile("Buffers in use", RATES.length, grouped(used), `of ${grouped(state.config.mbufs)}`));
}

function showDrops(state) {
  const groups = [["taken up", "taken_up"], ["dropped", "drops"], ["refused", "errors"], ["flag", "exceptions"]];
  const all = groups.flatMap(([kind, group]) => Object.entries(state.stats[group]).map(([name, count]) =>
    [`${kind}: ${name}`, count, rate(state, (one) => one.stats[group][name])]));
  all.push(["missed by the device", state.stats.devices.rx_missed, rate(state, (one) => one.stats.devices.rx_missed)]);
  table("drops", ["", "since the start", "per second"], all.filter(([, count]) => count)
    .map(([name, count, now]) => [name, grouped(count), perSecond(now)]));
  const zeros = all.filter(([, count]) => !count).map(([name]) => name);
  setText("zeros-title", `${zeros.length} others, none so far`);
  setText("zeros", zeros.join(", "));
}

// Requests of the operations further to the four, most first.
function showOperations(state) {
  const all = Object.entries(state.stats.operations).filter(([, count]) => count).sort((a, b) => b[1] - a[1]);
  $("operations-card").hidden = !all.length;
  table("operations", ["requests", "since the start", "per second"], all.map(([name, count]) =>
    [name, grouped(count), perSecond(rate(state, (one) => one.stats.operations[name] ?? 0))]));
}

function showLatency(latency) {
  if (!latency || !latency.count) {
    setText("latency-note", latency ? "No packet so far." : "Not counted: start the switch with --latency.");
    $("latency").replaceChildren();
    $("latency-axis").replaceChildren();
    return;
  }
  const seconds = (cycles) => timeText(cycles / latency.tsc_hz);
  const all = Object.entries(latency.buckets_ns).sort((a, b) => (Number(a[0]) || Infinity) - (Number(b[0]) || Infinity));
  const counts = all.map(([, count]) => count > 0);
  const buckets = all.slice(counts.indexOf(true), counts.lastIndexOf(true) + 1);
  const label = (n) => (Number(buckets[n][0]) ? timeText(buckets[n][0] / 1e9) : "more than 1 s");
  const most = Math.max(...buckets.map(([, count]) => count));
  setText("latency-note", `${grouped(latency.count)} packets, from receive to transmit burst: half within `
    + `${seconds(latency.p50)}, 99 % within ${seconds(latency.p99)}, 99.9 % within ${seconds(latency.p99_9)}, `
    + `all within ${seconds(latency.greatest)}. Heights are logarithmic.`);
  $("latency").replaceChildren(...buckets.map(([bound, count], n) => {
    const bar = element("i", { title: `${Number(bound) ? "up to " : ""}${label(n)}: ${grouped(count)} packets` });
    bar.style.height = `${100 * Math.log1p(count) / Math.log1p(most)}%`;
    return bar;
  }));
  $("latency-axis").replaceChildren(element("span", {}, label(0)), element("span", {}, label(buckets.length - 1)));
}

function showSets(state) {
  table("sets", ["format", "set", "entries", "origin", "computed by"], Object.entries(state.tables).map(([format, set]) =>
    [format, set.set, grouped(set.entries), set.origin, state.config.kernels?.[set.set] ?? "its stages, one by one"]));
}

function showLcores(state) {
  const earlier = new Map((before?.lcores ?? []).map((lcore) => [lcore.lcore, lcore]));
  const grown = (lcore, name) => Math.max(0, lcore[name] - (earlier.get(lcore.lcore)?.[name] ?? lcore[name]));
  const seconds = before ? state.time - before.time : 0;
  table("lcores", ["lcore", "load", "burst", "in /s", "lanes /s", "queues"], state.lcores.map((lcore) => [
    lcore.lcore, percent(grown(lcore, "busy_cycles"), grown(lcore, "cycles")),
    grown(lcore, "busy_polls") ? (grown(lcore, "rx_packets") / grown(lcore, "busy_polls")).toFixed(1) : "–",
    seconds ? short(grown(lcore, "rx_packets") / seconds) : "–",
    seconds ? short(grown(lcore, "lanes") / seconds) : "–", lcore.paths.join(" "),
  ]));
}

function showPorts(state) {
  table("ports", ["port", "device", "link", "in", "out", "missed", "errors"], state.ports.map((port) => [
    port.port, port.device, port.gone ? "gone" : port.link_up === undefined ? "–" : port.link_up ? "up" : "down",
    ...["rx_packets", "tx_packets", "rx_missed"].map((name) => (port.counters ? grouped(port.counters[name]) : "–")),
    port.counters ? grouped(port.counters.rx_errors + port.counters.tx_errors) : "–",
  ]));
}

function showSlowloris(detector) {
  $("slowloris-card").hidden = !detector;
  if (!detector) return;
  setText("slowloris-note", `${grouped(detector.connections)} connections (${grouped(detector.half_open)} half open) `
    + `to ${grouped(detector.destinations)} destinations. Under attack: ${grouped(detector.alarms)}; `
    + `alarms so far: ${grouped(detector.alarms_raised)}.`);
  $("attacked").replaceChildren(...detector.under_attack.map((destination) => element("li", {}, destination)));
}

const JOB_COUNTERS = ["added", "completed", "repeated", "duplicate", "stale", "mismatch", "window", "stalled"];

// Workers of a job that have not joined, in ranges.
function missing(job) {
  const there = new Set(job.joined), ranges = [];
  for (let worker = 0; worker < job.workers; worker++) {
    if (there.has(worker)) continue;
    if (ranges.at(-1)?.[1] === worker - 1) ranges.at(-1)[1] = worker;
    else ranges.push([worker, worker]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(", ") || "none";
}

// The worker that the others have waited for longest so far.
function slowest(job) {
  const [worker, microseconds] = Object.entries(job.waited_us).reduce((most, one) => (one[1] > most[1] ? one : most));
  return microseconds > 0 ? `${worker}, ${(microseconds / 1e6).toFixed(1)} s` : "none";
}

function showAggregation(state) {
  const all = state.stats.aggregate;
  $("aggregate-card").hidden = !all;
  if (!all) return;
  setText("aggregate-note", `${all.jobs} of ${all.most_jobs} jobs, ${grouped(all.slots)} of ${grouped(all.most_slots)} slots, `
    + `${grouped(all.values)} values added, ${all.jobs_timed_out} jobs ended by silence.`);
  table("jobs", ["job", "workers", "not joined", "left", "slots", "open", "silent for", "waited for", "slowest",
    "added", "stalled"],
    Object.values(state.jobs).map((job) => [job.job, job.workers, missing(job), job.left.join(", ") || "none",
      job.slots, job.open, `${job.silent_s} s`, job.silent.join(", ") || "none", slowest(job),
      grouped(job.added ?? 0), grouped(job.stalled ?? 0)]));
  table("actions", ["packets", ...JOB_COUNTERS],
    [["since the start", ...JOB_COUNTERS.map((name) => grouped(all[name]))]]);
}

function showTotals(stats) {
  const names = { rx_packets: "packets in", tx_packets: "packets out", copies: "copies", answers: "answers",
    netfc_packets: "NetFC requests", lanes: "lanes" };
  const all = [...Object.entries(names).map(([name, text]) => [name, text, stats[name]]),
    ["taken_up", "taken up", sum(stats.taken_up)], ["drops", "dropped", sum(stats.drops)]];
  $("totals").replaceChildren(...all.map(([name, text, count]) => element("div", {},
    element("dt", {}, text), element("dd", { id: `total-${name}` }, grouped(count)))));
}

function show(state) {
  if (before?.time === state.time) return; // what has been shown
  const { config, stats } = state;
  if (before && stats.rx_packets < before.stats.rx_packets) {
    before = null; // another switch
    states.length = 0;
  }
  setText("version", config.version);
  setText("running", `up ${duration(stats.seconds)} · match ${config.match} · forward ${config.forward} · ${config.dpdk}`);
  showTiles(state);
  showDrops(state);
  showOperations(state);
  showLatency(state.latency);
  showSets(state);
  showLcores(state);
  showPorts(state);
  showSlowloris(stats.slowloris);
  showAggregation(state);
  showTotals(stats);
  $("main").hidden = false;
  before = state;
}

function say(text) {
  setText("alert", text);
  $("alert").hidden = !text;
  document.body.classList.toggle("away", Boolean(text));
  document.title = text ? "No answer: dpdk-netfc" : "dpdk-netfc";
}

async function refresh() {
  try {
    const answer = await fetch("state", { cache: "no-store" });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    const state = await answer.json();
    if (state.up) show(state);
    say(state.up ? "" : `The switch does not answer: ${state.why}. It is asked again every second.`);
  } catch (error) {
    say(`The exporter does not answer: ${error.message}. It is asked again every second.`);
  }
  setTimeout(refresh, EACH_MS);
}

refresh();
