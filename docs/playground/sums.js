// SPDX-License-Identifier: BSD-3-Clause
// Aggregation: values in any order, the sum of floats and the exact one.

const MOST_SHOWN = 11; // of the sums that all orders give

class Sums {
  #library;
  #change;
  #values = [];
  #drag = null;
  #announce = (text) => setText("sum-announcement", text);

  constructor(library, change) {
    this.#library = library;
    this.#change = change;
    $("sum-format").replaceChildren(...Object.keys(SUM_FORMATS)
      .map((name) => element("option", { value: name }, name)));
    $("sum-format").addEventListener("change", () => change({ sum: $("sum-format").value }));
    $("add-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#addValue();
    });
    $("reverse").addEventListener("click", () => this.#set(this.#values.toReversed()));
    $("shuffle").addEventListener("click", () => this.#shuffle());
    $("values").addEventListener("keydown", (event) => this.#press(event));
    $("values").addEventListener("pointerdown", (event) => this.#grab(event));
  }

  show(state) {
    const format = state.sum, texts = state.values.split(",").map((text) => text.trim()).filter(Boolean);
    const bits = texts.map((text) => this.#library.parseValue(format, text));
    const wrong = texts.find((_, n) => bits[n] === null);
    this.#values = texts;
    $("sum-format").value = format;
    setText("value-error", wrong === undefined ? "" : `${quoted(wrong)} is no value; expected ${operandSyntax(format, wrong)}.`);
    const partial = wrong === undefined ? this.#partialSums(format, bits) : [];
    this.#showValues(format, partial);
    if (partial.length) this.#showSums(format, bits, partial.at(-1));
    else this.#showNothing();
  }

  // Partial sums, value by value, as floats are added.
  #partialSums(format, bits) {
    const sums = [];
    for (const value of bits) sums.push(sums.length ? this.#library.add(format, sums.at(-1), value) : value);
    return sums;
  }

  #showValues(format, partial) {
    $("values").replaceChildren(...this.#values.map((text, n) => element("li", {},
      element("button", {
        type: "button", "data-at": n,
        "aria-label": `${text}, ${n + 1} of ${this.#values.length}; arrow keys move it, Delete removes it`,
      }, text.replaceAll("-", MINUS)),
      element("span", { class: "partial" }, n && partial.length
        ? `= ${numberText(this.#library.decodeValue(format, partial[n]), 6)}` : " "))));
  }

  #showSums(format, bits, sum) {
    const exact = this.#library.exactSum(format, bits), sums = this.#library.orders(format, bits);
    const text = (word) => numberText(this.#library.decodeValue(format, word));
    setText("float-sum", text(sum));
    setText("exact-sum", text(exact));
    showBits("float-bits", format, sum);
    showBits("exact-bits", format, exact);
    $("float-sum").className = sum === exact ? "total good" : "total off";
    const orders = sums.reduce((count, one) => count + one.orders, 0);
    setText("orders-note", `${grouped(orders)} ${orders === 1 ? "order gives" : "orders give"} ${sums.length} `
      + `different ${sums.length === 1 ? "sum" : "sums"} of floats; the switch gives one, ${text(exact)}.`);
    sums.sort((a, b) => b.orders - a.orders);
    const shown = sums.filter((one, n) => n < MOST_SHOWN || one.bits === sum || one.bits === exact);
    $("orders").replaceChildren(...shown.map((one) => element("li",
      { class: one.bits === sum ? "now" : null },
      element("meter", { min: 0, max: orders, value: one.orders, "aria-hidden": "true" }),
      element("span", {}, element("strong", {}, text(one.bits)),
        ` in ${grouped(one.orders)}${one.bits === exact ? ", the exact one" : ""}`
        + `${one.bits === sum ? ", this order" : ""}`))),
    ...(sums.length > shown.length ? [element("li", {}, `and ${sums.length - shown.length} others`)] : []));
  }

  #showNothing() {
    for (const id of ["float-sum", "exact-sum", "orders-note"]) setText(id, "");
    for (const id of ["float-bits", "exact-bits", "orders"]) $(id).replaceChildren();
    if (!this.#values.length) setText("orders-note", "There is nothing to add up: add a value.");
  }

  #set(values) {
    this.#change({ values: values.join(",") });
  }

  #addValue() {
    const text = $("new-value").value.trim(), format = $("sum-format").value;
    if (this.#values.length >= MOST_VALUES) {
      setText("value-error", `There are ${MOST_VALUES} values, as many as this page tries all orders of.`);
    } else if (this.#library.parseValue(format, text) === null) {
      setText("value-error", `${quoted(text)} is no value; expected ${operandSyntax(format, text)}.`);
    } else {
      $("new-value").value = "";
      this.#set([...this.#values, text]);
      this.#announce(`${text} added`);
    }
  }

  #shuffle() {
    const values = [...this.#values];
    for (let left = values.length; left > 1; left--) {
      const other = Math.floor(Math.random() * left);
      [values[left - 1], values[other]] = [values[other], values[left - 1]];
    }
    this.#set(values);
  }

  #move(from, to) {
    const values = [...this.#values];
    if (to < 0 || to >= values.length || from === to) return;
    values.splice(to, 0, ...values.splice(from, 1));
    this.#set(values);
    $("values").querySelector(`[data-at="${to}"]`).focus();
    this.#announce(`${values[to]} is now ${to + 1} of ${values.length}; the sum of floats is `
      + `${$("float-sum").textContent}`);
  }

  #remove(at) {
    const text = this.#values[at];
    this.#set(this.#values.toSpliced(at, 1));
    ($("values").querySelector(`[data-at="${Math.max(0, at - 1)}"]`) ?? $("new-value")).focus();
    this.#announce(`${text} removed`);
  }

  #press(event) {
    const at = Number(event.target.dataset.at ?? NaN);
    if (Number.isNaN(at)) return;
    const to = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0,
      End: this.#values.length - 1 }[event.key];
    if (to !== undefined) this.#move(at, to);
    else if (event.key === "Delete" || event.key === "Backspace") this.#remove(at);
    else return;
    event.preventDefault();
  }

  // With a mouse, a pen or a finger: the value follows, and goes where it is let go.
  #grab(event) {
    const button = event.target.closest("[data-at]");
    if (!button || event.button !== 0) return;
    const drag = { button, at: Number(button.dataset.at), x: event.clientX, y: event.clientY };
    const move = (moved) => {
      button.classList.add("dragged");
      button.style.transform = `translate(${moved.clientX - drag.x}px, ${moved.clientY - drag.y}px)`;
    };
    const end = (ended) => {
      for (const name of ["pointermove", "pointerup", "pointercancel"]) button.removeEventListener(name, listeners[name]);
      button.classList.remove("dragged");
      button.style.transform = "";
      if (ended.type === "pointerup") this.#move(drag.at, this.#placeAt(ended.clientX, ended.clientY, drag.at));
    };
    const listeners = { pointermove: move, pointerup: end, pointercancel: end };
    button.setPointerCapture(event.pointerId);
    for (const [name, listener] of Object.entries(listeners)) button.addEventListener(name, listener);
  }

  // The place whose middle is nearest.
  #placeAt(x, y, from) {
    const distances = [...$("values").children].map((item) => {
      const box = item.getBoundingClientRect();
      return Math.hypot(x - (box.left + box.width / 2), y - (box.top + box.height / 2));
    });
    const nearest = distances.indexOf(Math.min(...distances));
    return nearest < 0 ? from : nearest;
  }
}
