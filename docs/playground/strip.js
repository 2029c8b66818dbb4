// SPDX-License-Identifier: BSD-3-Clause
// The strip on top: the operation's look-ups and additions of integers with their numbers, from left to right.

const MI_FORMULAS = {
  mi0: (power) => ["log₂(1 + ", ...power, ")"], mi1: (power) => ["log₂(1 − ", ...power, ")"],
  mi2: (power) => ["log₂(", ...power, " − 1)"],
};
// Additions that a correctly rounded result is made of, as the steps are called.
const EXACT_ADDITION = /^((s|p|sum|word|exponent|\|z\|) = .*|larger )\+/;

class Strip {
  #library;

  constructor(library) {
    this.#library = library;
  }

  show(state, input, set, walk, compared) {
    const decision = decisionOf(walk), isDecided = !decision.startsWith("z is computed");
    const boxes = set.scale ? this.#logBoxes(state.op, set, walk) : exactBoxes(walk);
    const text = (bits) => numberText(this.#library.decode(input.format, bits));
    $("strip").replaceChildren(
      element("li", { class: "end" }, element("strong", {},
        `${text(input.x)} ${SYMBOLS[state.op]} ${text(input.y)}`), element("span", {}, this.#setText(set))),
      ...boxes.map((one) => boxElement(isDecided ? { ...one, lines: [] } : one)),
      element("li", { class: "end" }, element("strong", {}, text(walk.z)),
        element("span", { class: compared.units[0] === 0 ? "good" : "off" },
          compared.units[0] === 0 ? "correctly rounded" : `right: ${text(compared.exact[0])}`)));
    setText("strip-note", isDecided
      ? `Decided beforehand: ${decision.replace("y'", state.op === "sub" ? `${MINUS}y` : "y")}.` : "");
  }

  clear() {
    $("strip").replaceChildren();
    setText("strip-note", "");
  }

  #setText(set) {
    return `${set.format}, ${set.scale ? `k = ${set.scale}` : "exact tables"}`;
  }

  #logBoxes(op, set, walk) {
    const k = set.scale, words = wordsOf(walk), [i, j, theta, m, n] = ["i", "j", "theta", "m", "n"]
      .map((name) => signed(words.get(name) ?? 0));
    const log = (integer) => numberText(integer / k, 4);
    const number = (word) => numberText(this.#library.decode(set.format, word), 6);
    const line = (formula, integer) => ({ formula, value: log(integer), integer });
    const isSum = op === "add" || op === "sub";
    const mi = walk.steps.find((step) => step.table in MI_FORMULAS)?.table;
    const difference = (from, what) => [`${log(from)} − ${inBrackets(log(what))}`];
    const subtract = isSum ? line(difference(j, i), theta) : line(difference(i, j), n);
    const add = line([`${log(i)} + ${inBrackets(log(isSum ? m : j))}`], n);
    return [
      { title: "log", kind: "look-up", lines: [
        line([`log₂ ${number(words.get("|x|"))}`], i), line([`log₂ ${number(words.get("|y|"))}`], j)] },
      { title: "subtract", kind: "integers", lines: op === "mul" ? [] : [subtract] },
      { title: "mi", kind: "look-up", lines: isSum ? [line(MI_FORMULAS[mi](power(log(theta))), m)] : [] },
      { title: "add", kind: "integers", lines: op === "div" ? [] : [add] },
      { title: "exp", kind: "look-up", lines: [
        { formula: power(log(n)), value: number(walk.steps.find((step) => step.table === "exp").fields[0].word) }] },
    ];
  }
}

function decisionOf(walk) {
  return walk.steps.flatMap((step) => step.fields).findLast((field) => field.name === "decision")?.meaning ?? "";
}

// The last word of each field.
function wordsOf(walk) {
  return new Map(walk.steps.flatMap((step) => step.fields).map((field) => [field.name, field.word]));
}

function inBrackets(number) {
  return number.startsWith(MINUS) ? `(${number})` : number;
}

function power(exponent) {
  return ["2", element("sup", {}, exponent)];
}

// Of correctly rounded sets: a box for look-ups in the same table, one after the other, and one for an addition.
function exactBoxes(walk) {
  const boxes = [];
  for (const step of walk.steps) {
    const isLookup = step.kind === "look-up";
    if (!isLookup && !EXACT_ADDITION.test(step.what)) continue;
    const title = isLookup ? step.table : "add", field = step.fields[0];
    if (boxes.at(-1)?.title !== title) boxes.push({ title, kind: isLookup ? step.kind : "integers", lines: [] });
    boxes.at(-1).lines.push({ formula: [isLookup ? field.name : step.what], value: hex(field.word, field.digits) });
  }
  return boxes;
}

function boxElement({ title, kind, lines }) {
  const look = kind === "look-up" ? "look-up" : "integers";
  return element("li", { class: lines.length ? look : `${look} skipped` },
    element("p", { class: "title" }, title in WORDS ? word(title) : title, " ",
      element("span", { class: "kind" }, kind)),
    ...(lines.length ? lines.map(lineElement) : [element("p", { class: "line" }, "not needed")]));
}

function lineElement({ formula, value, integer }) {
  return element("p", { class: "line" },
    element("span", { class: "formula" }, ...formula, " = "), element("strong", {}, value),
    ...(integer === undefined ? [] : [element("span", { class: "integer" }, ` as ${numberText(integer)}`)]));
}
