// SPDX-License-Identifier: BSD-3-Clause
// The page: its state, from the address and back, and the parts that show it.

class Page {
  #library;
  #parts;
  #knownSets;
  #state;
  #lastGood = {}; // the last texts of operands that were some
  // Browsers stop pages that change their address too often, as a slider would.
  #writeAddress = whenQuiet(() => history.replaceState(null, "", writeAddress(this.#state)), 150);
  #drawMap = whenQuiet(() => this.#showAround(), 60);

  constructor(library) {
    const change = (part) => this.#change(part);
    this.#library = library;
    this.#knownSets = library.knownSets();
    this.#parts = {
      examples: new Examples(change), strip: new Strip(library),
      operation: new Operation(library, change), walk: new Walk(library), scale: new Scale(library, change),
      neighbours: new Neighbours(library, change), sums: new Sums(library, change),
    };
    addEventListener("hashchange", () => this.#restore());
    this.#restore();
  }

  // How long the table set that is shown took to build.
  buildMilliseconds() {
    return this.#library.set(this.#state.set).milliseconds;
  }

  #restore() {
    const { state, faults } = readAddress(location.hash, this.#knownSets);
    this.#lastGood = {};
    this.#state = state;
    say(faults.length ? `Not everything in the link could be shown: ${faults.join("; ")}.` : "");
    this.#show();
    this.#parts.sums.show(state);
  }

  #change(part) {
    this.#state = { ...this.#state, ...part };
    say("");
    this.#writeAddress();
    if ("sum" in part || "values" in part) this.#parts.sums.show(this.#state);
    else this.#show();
  }

  // What an operation gives is there at once; what is around it follows when it is quiet.
  #show() {
    const state = this.#state, { examples, strip, operation, walk } = this.#parts;
    const input = operation.showInput(state);
    examples.show(state);
    this.input = this.#withLastGood(input);
    document.body.classList.toggle("stale", this.input !== null && this.input !== input);
    if (this.input) {
      const set = this.#library.set(state.set), { x, y } = this.input;
      const steps = this.#library.walk(set, state.op, x, y);
      const compared = this.#library.compare(set, state.op, [x], [y]);
      operation.showResult(state, this.input, steps, compared);
      strip.show(state, this.input, set, steps, compared);
      walk.show(set, input.family, steps);
    } else {
      operation.showNothing();
      strip.clear();
      walk.clear();
    }
    setText("stale-note", this.input === input || !this.input ? ""
      : "This is the last result, until there is another.");
    this.#drawMap();
  }

  // The input with what an operand was before where it is none now; null where it never was one.
  #withLastGood(input) {
    const known = { ...input };
    for (const name of ["x", "y"]) {
      if (input[name] !== null) this.#lastGood[name] = this.#state[name];
      else known[name] = this.#library.parse(input.format, this.#lastGood[name] ?? "");
    }
    if (known.x === null || known.y === null) return null;
    return input.x === null || input.y === null ? known : input;
  }

  #showAround() {
    const { scale, neighbours } = this.#parts;
    if (this.input) {
      neighbours.show(this.#state, this.input);
      scale.show(this.#state, this.input);
    } else {
      neighbours.clear();
      scale.stop();
    }
  }
}

function say(text) {
  setText("alert", text);
  $("alert").hidden = !text;
}

async function start() {
  new Explanations();
  if (typeof WebAssembly !== "object") {
    say("This page computes with WebAssembly, which this browser does not have or does not allow. "
      + "netfc-tables show SET --walk OP X Y shows the same in a terminal.");
    return;
  }
  try {
    const page = new Page(await Library.load());
    document.body.dataset.built = String(Math.round(page.buildMilliseconds()));
    document.body.dataset.ready = String(Math.round(performance.now()));
  } catch (error) {
    say(`This page cannot compute: ${error.message}.`);
  }
}

start();
