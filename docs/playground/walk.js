// SPDX-License-Identifier: BSD-3-Clause
// The walk through the stages, and where it rounds.

// What a table of logarithms would hold if it could: its entry before rounding.
const UNROUNDED = {
  log: (k, key, decode) => [`${k} · log₂ ${numberText(decode(key), 6)}`, k * Math.log2(decode(key))],
  mi0: (k, key) => [`${k} · log₂(1 + 2^(theta/${k}))`, k * Math.log2(1 + 2 ** (signed(key) / k))],
  mi1: (k, key) => [`${k} · log₂(1 − 2^(theta/${k}))`, k * Math.log2(1 - 2 ** (signed(key) / k))],
  mi2: (k, key) => [`${k} · log₂(2^(theta/${k}) − 1)`, k * Math.log2(2 ** (signed(key) / k) - 1)],
  exp: (k, key) => [`2^(n/${k})`, 2 ** (signed(key) / k)],
};
// Where the correctly rounded sets round, by their layout.
const ROUNDS = { exact: /^(norm|round)/, exact_small: /^inc$/, fp8: /^(differ|round)$/ };

function signed(word) {
  return word << 16 >> 16;
}

class Walk {
  #library;

  constructor(library) {
    this.#library = library;
  }

  show(set, family, walk) {
    const decided = decisionOf(walk);
    const lookups = walk.steps.filter((step) => step.kind === "look-up").length;
    $("stages-note").replaceChildren(`${set.name}: ${walk.steps.length} steps, ${lookups} `,
      word("look-up", "look-ups"), " in ", word("match stages"), ".",
      decided.startsWith("z is computed") ? "" : ` Decided beforehand: ${decided}.`);
    $("stages").replaceChildren(...walk.steps.map((step) => this.#stage(set, family, step)));
  }

  clear() {
    setText("stages-note", "");
    $("stages").replaceChildren();
  }

  #stage(set, family, step) {
    const rounding = this.#rounding(set, family, step);
    const kind = step.table ? `${step.kind} in ${step.table}` : step.kind;
    return element("li", { class: `${step.kind}${rounding ? " rounds" : ""}` },
      element("p", { class: "what" }, step.what, " ", element("span", { class: "kind" }, kind)),
      element("dl", {},
        ...(step.table ? [this.#field("key", { name: "key", word: step.key, digits: 4, meaning: "" })] : []),
        ...step.fields.map((field) => this.#field("value", field))),
      ...(rounding ? [element("p", { class: "rounding" }, rounding)] : []));
  }

  #field(look, { name, word, digits, meaning }) {
    return element("div", { class: look }, element("dt", {}, name),
      element("dd", {}, element("code", {}, hex(word, digits)), meaning ? ` ${meaning.replaceAll("-", MINUS)}` : ""));
  }

  #layout(set, family) {
    if (widthOf(set.format) === 8) return "fp8";
    return family.startsWith("exact") && this.#library.isPosit(set.format) ? "exact_small" : family;
  }

  // What the step rounds, in words; null if it does not.
  #rounding(set, family, step) {
    if (!step.table) return null;
    if (ROUNDS[this.#layout(set, family)]?.test(step.table)) {
      return "Rounds here, once: to nearest, ties to even.";
    }
    const unrounded = UNROUNDED[step.table];
    if (!set.scale || !unrounded) return null;
    const decode = (bits) => this.#library.decode(set.format, bits);
    const [formula, value] = unrounded(set.scale, step.key, decode);
    if (!Number.isFinite(value)) return null;
    const word = step.fields[0].word;
    const rounded = step.table === "exp" ? decode(word) : signed(word);
    if (rounded === value) return `${formula} = ${numberText(rounded)}: nothing to round.`;
    return `${formula} = ${numberText(value)} is rounded ${family === "floor" ? "down " : ""}to `
      + `${numberText(rounded)}.`;
  }
}
