// SPDX-License-Identifier: BSD-3-Clause
// What the page shows, and how that stands in its address. What the address says is checked here, part by part.

const DEFAULTS = {
  op: "add", x: "2", y: "3", set: "fp16_k1024", reach: "1",
  sum: "fp16", values: "2048,1,1,0.5,-2048,0.25",
};
const REACHES = ["1", "8", "64", "512"];

// The parts of a table set's name, or null.
function splitSet(name) {
  const parts = /^([a-z0-9_]+)_(?:k(\d{1,4})(_floor)?|(exact|exact_small|sat))$/.exec(name);
  if (!parts || !FORMATS.includes(parts[1])) return null;
  return { format: parts[1], scale: Number(parts[2] ?? 0), family: parts[4] ?? (parts[3] ? "floor" : "nearest") };
}

function joinSet({ format, scale, family }) {
  if (family !== "nearest" && family !== "floor") return `${format}_${family}`;
  return `${format}_k${scale}${family === "floor" ? "_floor" : ""}`;
}

// An address's fragment to { state, faults }: faults are sentences about what could not be used.
function readAddress(fragment, knownSets) {
  const state = { ...DEFAULTS }, faults = [];
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const choose = (name, isGood, expected) => {
    const text = said.get(name);
    if (text === null) return;
    if (isGood(text)) state[name] = text;
    else faults.push(`the address has ${name}=${quoted(text)}; expected ${expected}`);
  };
  choose("op", (text) => OPS.includes(text), OPS.join(", "));
  choose("set", (text) => knownSets.includes(text), "the name of a table set, such as fp16_k1024");
  choose("x", (text) => text.length <= MOST_TEXT, `up to ${MOST_TEXT} characters`);
  choose("y", (text) => text.length <= MOST_TEXT, `up to ${MOST_TEXT} characters`);
  choose("reach", (text) => REACHES.includes(text), REACHES.join(", "));
  choose("sum", (text) => Object.hasOwn(SUM_FORMATS, text), Object.keys(SUM_FORMATS).join(", "));
  choose("values", (text) => {
    const values = text.split(",");
    return values.length <= MOST_VALUES && values.every((value) => value.length <= MOST_TEXT);
  }, `up to ${MOST_VALUES} numbers with commas between them`);
  return { state, faults };
}

function writeAddress(state) {
  return `#${new URLSearchParams(state)}`;
}
