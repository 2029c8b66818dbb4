// SPDX-License-Identifier: BSD-3-Clause
// Words that are explained where the pointer or the focus is.

const WORDS = {
  log: "A table with the logarithm of every positive number of the format. To multiply numbers, add their "
    + "logarithms, which are integers here.",
  subtract: "The logarithms' difference is the logarithm of the operands' ratio: an integer subtraction.",
  mi: "A table that turns the logarithm of a ratio r into that of 1 + r (or 1 − r, r − 1), so that logarithms "
    + "can be used for sums.",
  add: "An integer addition, which every switch can do.",
  exp: "A table that turns a logarithm back into the number.",
  "look-up": "A match in a table of the switch: a key of about 16 bits goes in, and the stored value comes out.",
  "match stages": "The tables of a switch, one after another; each packet passes through all of them.",
  integers: "Additions, comparisons and slices of integers, between two tables.",
  k: "The scale: a logarithm is stored as the integer nearest to k times its value. The larger k, the smaller the "
    + "error and the larger the tables.",
  ulp: "Unit in the last place: the distance from one number of the format to the next.",
  "correctly rounded": "The number of the format that is nearest to the true result; if two are equally near, the even "
    + "one. No arithmetic in this format can do better.",
  Format: "How 16 or 8 bits represent a number. fp16 and bf16 are floats with 5 and 8 exponent bits, fp8_e4m3 and "
    + "fp8_e5m2 have 4 and 5; posits have more digits near 1 and fewer far from it.",
  Tables: "Which tables the operation goes through: logarithms, which are small and round at each look-up, or "
    + "tables whose result is correctly rounded.",
  Exceptions: "The events that IEEE 754 has a computation report: invalid operation, division by zero, overflow, "
    + "underflow.",
  Memory: "The memory of all match stages, with a slot for each key that its bits can express.",
  "keys that occur": "Memory with slots only for keys that occur for some operands.",
  worker: "One of several computers that train a model together, and have to sum their results.",
  chunk: "A packet's worth of values. Chunks are numbered; the chunks with the same number from all workers are added.",
  slot: "A place in the switch where chunks are added. It has two entries, so that the last sum can be sent again "
    + "while the next one is computed.",
  "exact sum": "All digits of the sum, kept in integers as wide as the format's whole range, and rounded once at the "
    + "end. The order of the values makes no difference.",
};

// An explained word; `text` where it stands in another form.
function word(name, text = name) {
  return element("dfn", { class: "word", tabindex: "0", "data-word": name }, text);
}

// A text as children of an element, its last word explained if that is known.
function explained(text) {
  const name = Object.keys(WORDS).find((one) => text.toLowerCase().endsWith(one.toLowerCase()));
  return name ? [text.slice(0, -name.length), word(name, text.slice(-name.length))] : [text];
}

// Shows explanations for all words that the page has or will have.
class Explanations {
  #shown = null;

  constructor() {
    const wordOf = (event) => event.target.closest?.(".word") ?? null;
    const isInside = (event) => $("explanation").contains(event.target);
    document.addEventListener("pointerover", (event) => {
      if (!isInside(event)) this.#show(wordOf(event) ?? wordOf({ target: document.activeElement }));
    });
    document.addEventListener("focusin", (event) => this.#show(wordOf(event)));
    document.addEventListener("focusout", () => this.#show(null));
    document.addEventListener("click", (event) => wordOf(event) && event.preventDefault()); // no label's click
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.#show(null));
    addEventListener("resize", () => this.#show(null));
  }

  #show(at) {
    if (at === this.#shown) return;
    this.#shown?.removeAttribute("aria-describedby");
    this.#shown = at;
    const box = $("explanation");
    box.hidden = at === null;
    if (!at) return;
    at.setAttribute("aria-describedby", "explanation");
    setText("explanation", WORDS[at.dataset.word]);
    this.#place(box, at.getBoundingClientRect());
  }

  // Below the word, or above it where there is no room; within the window.
  #place(box, word) {
    const { width, height } = box.getBoundingClientRect(), root = document.documentElement;
    const left = Math.max(8, Math.min(word.left, root.clientWidth - width - 8));
    const top = word.bottom + height + 8 > root.clientHeight && word.top > height ? word.top - height : word.bottom;
    box.style.left = `${left + scrollX}px`;
    box.style.top = `${top + scrollY}px`;
  }
}
