// SPDX-License-Identifier: BSD-3-Clause
// Error and memory by k, and an approximate set beside the exact one.

const SAMPLE = 4096;

// Pairs of finite operands, the same for everyone.
function samplePairs(library, format) {
  const random = randomWords(0x2f6e2b1), mask = 2 ** widthOf(format) - 1;
  const operand = () => {
    for (;;) {
      const bits = random() & mask;
      if (Number.isFinite(library.decode(format, bits))) return bits;
    }
  };
  const pairs = { x: new Uint16Array(SAMPLE), y: new Uint16Array(SAMPLE) };
  for (let pair = 0; pair < SAMPLE; pair++) {
    pairs.x[pair] = operand();
    pairs.y[pair] = operand();
  }
  return pairs;
}

class Scale {
  #library;
  #change;
  #pairs = new Map();
  #shares = new Map();
  #work = 0;

  constructor(library, change) {
    this.#library = library;
    this.#change = change;
  }

  // Shows the sets one after the other, so that the page never waits for more than one to be built.
  show(state, input) {
    const { format, family } = input, approximate = family === "floor" ? "floor" : "nearest";
    const most = this.#library.mostScale(format);
    const scales = most ? Array.from({ length: Math.log2(most) + 1 }, (_, bit) => 2 ** bit) : [];
    const names = scales.map((scale) => joinSet({ format, scale, family: approximate }));
    const exact = joinSet({ format, family: "exact" });
    const beside = new Set([names.at(-1) ?? joinSet({ format, family: "sat" }), exact, state.set]);
    this.#library.keep((name) => names.includes(name) || beside.has(name));
    setText("scale-note", most
      ? `Share of ${grouped(SAMPLE)} random pairs correctly rounded; error of this operation.`
      : `${format} has no tables of logarithms, and so no k.`);
    setText("beside-title", most ? "Approximate beside exact" : "Both table sets");
    const job = ++this.#work, rows = [];
    const ordered = [...new Set([state.set, ...beside, ...names.toReversed()])];
    const next = () => {
      if (job !== this.#work) return;
      const name = ordered[rows.length];
      if (name === undefined) return;
      rows.push(this.#measure(name, state.op, input));
      if (most) this.#draw(state, names, rows, scales);
      else $("scale").replaceChildren();
      this.#drawBeside([...beside], rows);
      setTimeout(next, 0);
    };
    setTimeout(next, 0);
  }

  stop() {
    this.#work++;
    for (const id of ["scale", "beside"]) $(id).replaceChildren();
  }

  #measure(name, op, { format, x, y }) {
    const set = this.#library.set(name), key = `${name} ${op}`;
    if (!this.#pairs.has(format)) this.#pairs.set(format, samplePairs(this.#library, format));
    if (!this.#shares.has(key)) {
      const pairs = this.#pairs.get(format);
      const { units } = this.#library.compare(set, op, pairs.x, pairs.y);
      this.#shares.set(key, units.reduce((count, unit) => count + (unit === 0), 0));
    }
    const compared = this.#library.compare(set, op, [x], [y]);
    const steps = this.#library.walk(set, op, x, y).steps;
    return {
      name, set, share: this.#shares.get(key), units: compared.units[0], z: compared.z[0],
      steps: steps.length, lookups: steps.filter((step) => step.kind === "look-up").length,
    };
  }

  #draw(state, names, rows, scales) {
    const found = new Map(rows.map((row) => [row.name, row]));
    const most = Math.max(...names.map((name) => found.get(name)?.set.slots ?? 0));
    const focused = $("scale").contains(document.activeElement) ? document.activeElement.textContent : null;
    const head = ["k", "this error", "correctly rounded", "memory"];
    $("scale").replaceChildren(
      element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, ...explained(text))))),
      element("tbody", {}, ...names.map((name, n) => this.#row(state, scales[n], found.get(name), name, most))));
    if (focused) [...$("scale").querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
  }

  #row(state, scale, row, name, most) {
    const chosen = name === state.set;
    const choose = element("button", { type: "button", "aria-pressed": String(chosen) }, String(scale));
    choose.addEventListener("click", () => this.#change({ set: name }));
    const cells = row === undefined ? ["…", "…", "…"] : [
      unitsText(row.units), this.#bar(row.share / SAMPLE, percent(row.share, SAMPLE)),
      this.#bar(row.set.slots / most, sizeText(row.set.slots)),
    ];
    return element("tr", { class: chosen ? "chosen" : null },
      element("th", { scope: "row" }, choose), ...cells.map((cell) => element("td", {}, cell)));
  }

  #bar(share, text) {
    const bar = element("meter", { min: 0, max: 1, value: share.toFixed(4), "aria-hidden": "true" });
    return element("span", { class: "bar" }, bar, element("span", {}, text));
  }

  #drawBeside(names, rows) {
    const columns = names.map((name) => rows.find((row) => row.name === name)).filter(Boolean);
    const lines = [
      ["result", (row) => `${numberText(this.#library.decode(row.set.format, row.z))} (${encodingText(row.set.format, row.z)})`],
      ["error", (row) => unitsText(row.units)],
      ["correctly rounded", (row) => percent(row.share, SAMPLE)],
      ["steps, look-ups", (row) => `${row.steps}, ${row.lookups}`],
      ["memory", (row) => sizeText(row.set.slots)],
      ["keys that occur", (row) => sizeText(row.set.plain)],
    ];
    $("beside").replaceChildren(
      element("thead", {}, element("tr", {}, element("td"),
        ...columns.map((row) => element("th", { scope: "col" }, row.name)))),
      element("tbody", {}, ...lines.map(([title, text]) => element("tr", {},
        element("th", { scope: "row" }, ...explained(title)), ...columns.map((row) => element("td", {}, text(row)))))));
  }
}
