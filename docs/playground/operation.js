// SPDX-License-Identifier: BSD-3-Clause
// The operation: operands, choices, the result and the exact one beside it.

const FAMILIES = {
  nearest: "Logarithms, entries rounded to nearest", floor: "Logarithms, entries rounded down (the paper)",
  exact: "Correctly rounded", exact_small: "Correctly rounded, least memory",
  sat: "Correctly rounded, what is too large to the greatest number",
};

// What is expected in place of a text that is no operand.
function operandSyntax(format, text) {
  if (text.length > MOST_TEXT) return `up to ${MOST_TEXT} characters`;
  return `a decimal number, inf, nan, or an encoding such as ${encodingText(format, 0x3c * 2 ** (widthOf(format) - 8))}`;
}

class Operation {
  #library;
  #change;
  #announce = whenQuiet((text) => setText("announcement", text), 500);

  // change(part of the state): called for what the user does.
  constructor(library, change) {
    this.#library = library;
    this.#change = change;
    this.#makeOps();
    $("format").replaceChildren(...FORMATS.map((name) => element("option", { value: name }, name)));
    for (const name of ["x", "y"]) this.#listenToOperand(name);
    $("format").addEventListener("change", () => this.#chooseSet({ format: $("format").value }));
    $("family").addEventListener("change", () => this.#chooseSet({ family: $("family").value }));
    $("k").addEventListener("input", () => {
      const { family } = splitSet(this.state.set);
      this.#chooseSet({ scale: 2 ** $("k").value, family: family === "floor" ? "floor" : "nearest" });
    });
    $("form").addEventListener("submit", (event) => event.preventDefault());
    $("skip").addEventListener("click", (event) => {
      event.preventDefault(); // the fragment is the state
      $("result").focus();
    });
  }

  // Shows operands and choices. Gives { format, scale, family, x, y }; x, y null where they are wrong.
  showInput(state) {
    this.state = state;
    const parts = splitSet(state.set);
    this.#showFamilies(parts.format);
    for (const input of document.querySelectorAll("[name=op]")) input.checked = input.value === state.op;
    $("format").value = parts.format;
    $("family").value = parts.family;
    this.#showScale(parts);
    return {
      ...parts, x: this.#showOperand("x", parts.format, state.x), y: this.#showOperand("y", parts.format, state.y),
    };
  }

  showResult(state, input, walk, compared) {
    const { format } = input, decode = (bits) => this.#library.decode(format, bits);
    const z = numberText(decode(walk.z)), exact = compared.exact[0], units = compared.units[0];
    const equation = `${numberText(decode(input.x))} ${SYMBOLS[state.op]} ${numberText(decode(input.y))} = `;
    $("equation").replaceChildren(element("span", {}, equation), element("strong", { id: "z" }, z));
    showBits("z-bits", format, walk.z);
    const verdict = units === 0 ? "correctly rounded" : units < 0 ? "not comparable" : `off by ${unitsText(units)}`;
    this.#showFacts([
      ["Exact", `${numberText(decode(exact))} (${encodingText(format, exact)})`, "exact"],
      ["Error", verdict, "error", units === 0 ? "good" : "off"],
      ["Exceptions", flagsText(walk.flags), "flags"],
      ["Memory", sizeText(this.#library.set(state.set).slots), "memory"],
    ]);
    this.#announce(`${equation}${z}, ${verdict}`);
  }

  showNothing() {
    $("equation").replaceChildren(element("span", {}, "No result yet: an operand is missing."));
    for (const id of ["z-bits", "facts"]) $(id).replaceChildren();
  }

  #showFacts(facts) {
    $("facts").replaceChildren(...facts.map(([term, text, id, look]) => element("div", {},
      element("dt", {}, term in WORDS ? word(term) : term),
      element("dd", { id: `fact-${id}`, class: look ?? null }, ...explained(text)))));
  }

  #makeOps() {
    $("ops").replaceChildren(...OPS.map((op) => {
      const input = element("input", { type: "radio", name: "op", value: op, id: `op-${op}`, "aria-label": op });
      input.addEventListener("change", () => this.#change({ op }));
      return element("label", { for: `op-${op}` }, input, element("span", { "aria-hidden": "true" }, SYMBOLS[op]));
    }));
  }

  #listenToOperand(name) {
    // A character more than may be, so that what is too long is refused, and not taken for what it begins with.
    $(name).addEventListener("input", () => this.#change({ [name]: $(name).value.trim().slice(0, MOST_TEXT + 1) }));
    const slider = $(`${name}-slider`);
    slider.addEventListener("input", () => {
      const { format } = splitSet(this.state.set);
      const bits = bitsAt(this.#library, format, Number(slider.value));
      this.#change({ [name]: typedNumber(this.#library.decode(format, bits)) });
    });
  }

  #chooseSet(parts) {
    const now = splitSet(this.state.set), next = { ...now, ...parts };
    const most = this.#library.mostScale(next.format);
    if (!this.#library.families(next.format).includes(next.family)) next.family = "exact";
    if (!next.scale || next.scale > most || (parts.format && now.scale === this.#library.mostScale(now.format))) {
      next.scale = most;
    }
    this.#change({ set: joinSet(next) });
  }

  #showFamilies(format) {
    const names = this.#library.families(format);
    if ([...$("family").options].map((option) => option.value).join() !== names.join()) {
      $("family").replaceChildren(...names.map((name) => element("option", { value: name }, FAMILIES[name])));
    }
  }

  #showScale({ format, scale }) {
    const most = this.#library.mostScale(format);
    $("k").disabled = !most;
    $("k").max = most ? Math.log2(most) : 0;
    $("k").value = scale ? Math.log2(scale) : $("k").max;
    $("k").setAttribute("aria-valuetext", scale ? `k = ${scale}` : "none: these tables have no k");
    setText("k-value", scale ? String(scale) : "none");
  }

  #showOperand(name, format, text) {
    const bits = this.#library.parse(format, text);
    if ($(name).value.trim() !== text) $(name).value = text;
    $(name).setAttribute("aria-invalid", String(bits === null));
    setText(`${name}-error`, bits === null ? whatIsWrong(name, format, text) : "");
    if (bits === null) {
      $(`${name}-bits`).replaceChildren();
      return null;
    }
    showBits(`${name}-bits`, format, bits);
    const slider = $(`${name}-slider`), value = this.#library.decode(format, bits);
    const most = mostPosition(this.#library, format);
    slider.min = -most;
    slider.max = most;
    slider.value = positionOf(this.#library, format, bits);
    slider.setAttribute("aria-valuetext", numberText(value));
    return bits;
  }
}

function whatIsWrong(name, format, text) {
  if (!text) return `${name} is empty; type ${operandSyntax(format, text)}.`;
  return `${quoted(text)} is not an operand; expected ${operandSyntax(format, text)}.`;
}

// The numbers of a format in order have positions: 0 is zero's, 1 the least positive number's.

function mostPosition(library, format) {
  return { fp16: 0x7c00, bf16: 0x7f80, fp8_e4m3: 0x7e, fp8_e5m2: 0x7c }[format] ?? 0x7fff;
}

function positionOf(library, format, bits) {
  const magnitude = library.magnitude(format, bits);
  return bits >> (widthOf(format) - 1) ? -magnitude : magnitude;
}

function bitsAt(library, format, position) {
  if (position >= 0) return position;
  return library.isPosit(format) ? 0x10000 + position : 1 << (widthOf(format) - 1) | -position;
}
