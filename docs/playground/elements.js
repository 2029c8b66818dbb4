// SPDX-License-Identifier: BSD-3-Clause
// Elements and texts. Text goes into the page as text, never as markup.

const $ = (id) => document.getElementById(id);

// An element with attributes and children; a child that is a string becomes text.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function setText(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function hex(word, digits = 4) {
  return `0x${word.toString(16).padStart(digits, "0")}`;
}

// The width of a format's encodings in bits.
function widthOf(format) {
  return format === "fp32" ? 32 : format.startsWith("fp8") ? 8 : 16;
}

function encodingText(format, bits) {
  return hex(bits, widthOf(format) / 4);
}

const MOST_TEXT = 40; // characters of an operand

function quoted(text) {
  return `“${text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text}”`;
}

const MINUS = "−";

// A number that was copied from a page, as it is typed.
function asTyped(text) {
  return text.replaceAll(MINUS, "-").replaceAll("∞", "inf");
}

// A number in at most that many digits.
function numberText(value, digits = 8) {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value < 0 ? `${MINUS}∞` : "∞";
  if (Object.is(value, -0)) return `${MINUS}0`;
  return String(Number(value.toPrecision(digits))).replaceAll("-", MINUS);
}

// The same, as it can be typed.
function typedNumber(value) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  return Object.is(value, -0) ? "-0" : String(Number(value.toPrecision(8)));
}

function grouped(count) {
  return count.toLocaleString("en");
}

function sizeText(bytes) {
  return bytes < 10240 ? `${grouped(bytes)} bytes` : `${grouped(Math.round(bytes / 1024))} KB`;
}

function percent(part, whole) {
  const share = 100 * part / whole;
  return `${share === 100 || share === 0 ? share : share.toFixed(1)} %`;
}

function unitsText(units) {
  if (units < 0) return "not comparable";
  return `${grouped(units)} ulp`;
}

function flagsText(flags) {
  return FLAGS.filter(([bit]) => flags & bit).map(([, name]) => name).join(", ") || "none";
}

// The fields of an encoding: [[name, bits as text]].
function bitFields(format, bits) {
  const digits = bits.toString(2).padStart(widthOf(format), "0");
  const exponentBits = { fp16: 5, bf16: 8, fp32: 8, fp8_e4m3: 4, fp8_e5m2: 5 }[format];
  if (exponentBits) {
    return [["sign", digits[0]], ["exponent", digits.slice(1, 1 + exponentBits)],
      ["fraction", digits.slice(1 + exponentBits)]];
  }
  if (digits[0] === "1" || Number(digits) === 0) return [["sign", digits[0]], ["complement", digits.slice(1)]];
  const regime = /^(1+0?|0+1)/.exec(digits.slice(1))[0];
  const rest = digits.slice(1 + regime.length), size = format === "posit16" ? 1 : 2;
  return [["sign", "0"], ["regime", regime], ["exponent", rest.slice(0, size)], ["fraction", rest.slice(size)]];
}

function showBits(id, format, bits) {
  const fields = bitFields(format, bits).filter(([, digits]) => digits);
  $(id).replaceChildren(
    element("code", {}, encodingText(format, bits)), " ",
    ...fields.map(([name, digits]) => element("span", { class: `field ${name}`, title: name }, digits)));
}

// Runs the last of many calls, once it is quiet.
function whenQuiet(run, milliseconds) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), milliseconds);
  };
}
