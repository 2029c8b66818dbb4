// SPDX-License-Identifier: BSD-3-Clause
// A map of the error around the operands.

const SIDE = 33; // cells
const MIDDLE = (SIDE - 1) / 2;
const CELL = 10; // pixels
// How far off: up to so many ulp, and the colour's name in page.css.
const LEVELS = [[0, "level0", "0"], [1, "level1", "1"], [2, "level2", "2"], [8, "level3", "3 to 8"],
  [Infinity, "level4", "more"]];

class Neighbours {
  #library;
  #change;
  #cells = null;
  #cursor = { column: MIDDLE, row: MIDDLE };

  constructor(library, change) {
    this.#library = library;
    this.#change = change;
    $("reach").replaceChildren(...REACHES.map((reach) => element("option", { value: reach },
      reach === "1" ? "the next number" : `${reach} numbers`)));
    $("reach").addEventListener("change", () => change({ reach: $("reach").value }));
    $("legend").replaceChildren(...[...LEVELS, [0, "levelx", "not comparable"]].map(([, name, text]) =>
      element("span", {}, element("i", { class: name }), ` ${text}`)), " ulp");
    $("map").addEventListener("keydown", (event) => this.#press(event));
    $("map").addEventListener("pointermove", (event) => this.#point(event));
    $("map").addEventListener("click", (event) => {
      this.#point(event);
      this.#take();
    });
    $("map").addEventListener("blur", () => this.#moveTo(MIDDLE, MIDDLE));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
  }

  show(state, input) {
    const { format } = input, reach = Number(state.reach), set = this.#library.set(state.set);
    const most = mostPosition(this.#library, format);
    const around = (bits) => {
      const middle = positionOf(this.#library, format, bits);
      return Array.from({ length: SIDE }, (_, n) =>
        bitsAt(this.#library, format, Math.max(-most, Math.min(most, middle + (n - MIDDLE) * reach))));
    };
    const columns = around(input.x), rows = around(input.y);
    const x = rows.flatMap(() => columns), y = rows.flatMap((bits) => columns.map(() => bits));
    this.#cells = { format, op: state.op, x, y, ...this.#library.compare(set, state.op, x, y) };
    $("reach").value = state.reach;
    this.#cursor = { column: MIDDLE, row: MIDDLE };
    this.#draw();
    this.#summarise();
  }

  clear() {
    this.#cells = null;
    $("map").getContext("2d").clearRect(0, 0, SIDE * CELL, SIDE * CELL);
    for (const id of ["map-summary", "map-cell"]) setText(id, "");
  }

  #summarise() {
    const { units } = this.#cells, right = units.reduce((count, unit) => count + (unit === 0), 0);
    const worst = units.reduce((most, unit) => Math.max(most, unit), 0);
    const text = `${percent(right, units.length)} of ${grouped(units.length)} pairs are correctly rounded; `
      + `the largest error is ${unitsText(worst)}.`;
    setText("map-summary", text);
    setText("map-cell", "");
    $("map").setAttribute("aria-label", `Map of the error. ${text}`);
  }

  #draw() {
    if (!this.#cells) return;
    const canvas = $("map"), context = canvas.getContext("2d"), style = getComputedStyle(canvas);
    const colours = Object.fromEntries([...LEVELS.map(([, name]) => name), "levelx"]
      .map((name) => [name, style.getPropertyValue(`--${name}`)]));
    this.#cells.units.forEach((units, cell) => {
      const level = units < 0 ? "levelx" : LEVELS.find(([most]) => units <= most)[1];
      context.fillStyle = colours[level];
      context.fillRect(cell % SIDE * CELL, (SIDE - 1 - Math.floor(cell / SIDE)) * CELL, CELL - 1, CELL - 1);
    });
    context.strokeStyle = style.getPropertyValue("--text");
    context.lineWidth = 2;
    context.strokeRect(this.#cursor.column * CELL - 0.5, (SIDE - 1 - this.#cursor.row) * CELL - 0.5, CELL, CELL);
  }

  #press(event) {
    const { column, row } = this.#cursor;
    const to = {
      ArrowLeft: [column - 1, row], ArrowRight: [column + 1, row], ArrowUp: [column, row + 1],
      ArrowDown: [column, row - 1], Home: [0, row], End: [SIDE - 1, row],
    }[event.key];
    if (to) this.#moveTo(...to);
    else if (event.key === "Enter") this.#take();
    else return;
    event.preventDefault();
  }

  #point(event) {
    const box = $("map").getBoundingClientRect();
    this.#moveTo(Math.floor((event.clientX - box.left) / box.width * SIDE),
      SIDE - 1 - Math.floor((event.clientY - box.top) / box.height * SIDE));
  }

  #moveTo(column, row) {
    const within = (at) => Math.max(0, Math.min(SIDE - 1, at));
    this.#cursor = { column: within(column), row: within(row) };
    if (!this.#cells) return;
    this.#draw();
    const cell = this.#cursor.row * SIDE + this.#cursor.column, { format, op, x, y, z, units } = this.#cells;
    const text = (bits) => numberText(this.#library.decode(format, bits), 6);
    setText("map-cell", `${text(x[cell])} ${SYMBOLS[op]} ${text(y[cell])} = ${text(z[cell])}: `
      + `${unitsText(units[cell])}`);
  }

  #take() {
    if (!this.#cells) return;
    const cell = this.#cursor.row * SIDE + this.#cursor.column, { format, x, y } = this.#cells;
    this.#change({
      x: typedNumber(this.#library.decode(format, x[cell])), y: typedNumber(this.#library.decode(format, y[cell])),
    });
  }
}
