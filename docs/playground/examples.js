// SPDX-License-Identifier: BSD-3-Clause
// Examples: a button for each, and what there is to see in it.

const EXAMPLES = [
  { name: "2 + 3", state: { op: "add", x: "2", y: "3", set: "fp16_k1024" },
    text: "Four look-ups (log twice, mi, exp), a subtraction and an addition of integers give the sum of two floats." },
  { name: "2 × 3", state: { op: "mul", x: "2", y: "3", set: "fp16_k1024" },
    text: "A product is easier than a sum: its logarithm is the sum of the logarithms." },
  { name: "0.1 + 0.2", state: { op: "add", x: "0.1", y: "0.2", set: "fp16_k1024" },
    text: "Neither is a number of fp16: the nearest ones are added. Each look-up rounds, so the result may be the "
      + "number next to the right one." },
  { name: "Cancellation", state: { op: "sub", x: "1000", y: "999", set: "fp16_k1024" },
    text: "Almost equal numbers: their difference is hardly more than what the logarithms were rounded by. This is "
      + "where approximate tables err most." },
  { name: "Exact", state: { op: "sub", x: "1000", y: "999", set: "fp16_exact" },
    text: "The same through tables of another kind, which align, add and round once: every result is correctly "
      + "rounded." },
];

class Examples {
  // change(part of the state): called with the example's.
  constructor(change) {
    $("examples").replaceChildren(...EXAMPLES.map((example) => {
      const button = element("button", { type: "button" }, example.name);
      button.addEventListener("click", () => change(example.state));
      return button;
    }));
  }

  show(state) {
    const isShown = (example) => Object.entries(example.state).every(([name, value]) => state[name] === value);
    EXAMPLES.forEach((example, n) => $("examples").children[n].setAttribute("aria-pressed", String(isShown(example))));
    setText("example-text", EXAMPLES.find(isShown)?.text ?? "");
  }
}
