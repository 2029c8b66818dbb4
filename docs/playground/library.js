// SPDX-License-Identifier: BSD-3-Clause
// libnetfc, compiled to WebAssembly, behind functions that take and give what JavaScript has.

const MODULE = "@WASM@";
const FORMATS = ["fp16", "bf16", "posit16", "posit16_es2", "fp8_e4m3", "fp8_e5m2"];
const OPS = ["add", "sub", "mul", "div"];
const SYMBOLS = { add: "+", sub: "−", mul: "×", div: "÷" };
const SUM_FORMATS = { fp16: 1, posit16: 2, bf16: 3, posit16_es2: 4, fp32: 5, fp8_e4m3: 8, fp8_e5m2: 9 };
const FLAGS = [[1, "invalid"], [2, "division by zero"], [4, "overflow"], [8, "underflow"]];
const STEP_KINDS = ["integers", "look-up", "decision", "selection"];
const ENTRY_STATES = ["empty", "open", "complete"]; // enum aggregate_state
const SENDS = ["nothing", "reply", "result", "results"]; // enum aggregate_send
const MOST_VALUES = 8; // PAGE_MAX_VALUES

const NAME_BYTES = 256;
const EBADF = 8;

class Library {
  #wasm;
  #sets = new Map();
  #knownSets = null;
  #walk = null;
  #decoder = new TextDecoder();

  // Throws where the browser has no WebAssembly.
  static async load() {
    const library = new Library();
    const bytes = Uint8Array.from(atob(MODULE), (character) => character.charCodeAt(0));
    const closed = () => EBADF; // the C library's files: there are none
    const { instance } = await WebAssembly.instantiate(bytes, {
      page: {
        page_step: (kind, what, table, key) => library.#takeStep(kind, what, table, key),
        page_field: (name, word, digits, meaning) => library.#takeField(name, word, digits, meaning),
      },
      wasi_snapshot_preview1: { fd_close: closed, fd_seek: closed, fd_write: closed },
    });
    library.#wasm = instance.exports;
    library.#wasm._initialize();
    return library;
  }

  // The names of all table sets that can be built, but for those of 32 bits.
  knownSets() {
    this.#knownSets ??= this.#withMemory(NAME_BYTES, (name) => {
      const names = [];
      while (this.#wasm.netfc_set_known_name(names.length, name)) names.push(this.#text(name));
      return names.filter(splitSet);
    });
    return this.#knownSets;
  }

  // The kinds of table sets that a format has.
  families(format) {
    const scale = this.mostScale(format);
    return Object.keys(FAMILIES).filter((family) => this.knownSets().includes(joinSet({ format, scale, family })));
  }

  isPosit(format) {
    return this.#wasm.netfc_format_is_posit(this.#format(format)) !== 0;
  }

  title(format) {
    return this.#text(this.#wasm.netfc_format_title(this.#format(format)));
  }

  // 0 of a format without tables of logarithms.
  mostScale(format) {
    return this.#wasm.netfc_format_max_scale(this.#format(format));
  }

  // An operand's bits, or null where the text is none.
  parse(format, text) {
    if (text.length > MOST_TEXT || text.includes("\0")) return null; // C would read what is before the 0
    const bits = this.#withText(asTyped(text), (at) => this.#wasm.page_parse(this.#format(format), at));
    return bits < 0 ? null : bits;
  }

  // A decimal number, which a float rounds as if it were the text; NaN where the text is none.
  number(text) {
    return this.#withText(asTyped(text), (at) => this.#wasm.page_number(at));
  }

  decode(format, bits) {
    return this.#wasm.netfc_decode(this.#format(format), bits);
  }

  // The same for a format of sums, of 32 bits, too.
  parseValue(format, text) {
    if (format !== "fp32") return this.parse(format, text);
    if (/^0x[0-9a-f]{1,8}$/i.test(text)) return Number.parseInt(text, 16);
    if (this.parse("fp16", text) === null) return null; // the same syntax
    return new Uint32Array(new Float32Array([this.number(text)]).buffer)[0];
  }

  decodeValue(format, bits) {
    if (format !== "fp32") return this.decode(format, bits);
    return new Float32Array(new Uint32Array([bits]).buffer)[0];
  }

  magnitude(format, bits) {
    return this.#wasm.netfc_magnitude(this.#format(format), bits);
  }

  // A table set: { name, format, scale, slots, plain, milliseconds }; built once. Throws the library's words.
  set(name) {
    if (!this.#sets.has(name)) this.#sets.set(name, this.#build(name));
    return this.#sets.get(name);
  }

  // Frees all sets but those that are asked for.
  keep(isWanted) {
    for (const [name, set] of this.#sets) {
      if (isWanted(name)) continue;
      this.#wasm.netfc_set_free(set.address);
      this.#sets.delete(name);
    }
  }

  // One operation: { z, flags, steps: [{ kind, what, table, key, fields: [{ name, word, digits, meaning }] }] }
  walk(set, op, x, y) {
    this.#walk = [];
    const result = this.#wasm.page_walk(set.address, OPS.indexOf(op) + 1, x, y);
    const steps = this.#walk;
    this.#walk = null;
    return { z: result & 0xffff, flags: result >>> 16, steps };
  }

  // Operands, two arrays, to { z, exact, units, flags, exactFlags }; units -1: no distance.
  compare(set, op, x, y) {
    const count = x.length;
    return this.#withMemory(12 * count, (at) => {
      const words = (offset) => new Uint16Array(this.#wasm.memory.buffer, at + offset, count);
      words(0).set(x);
      words(2 * count).set(y);
      const flags = this.#wasm.page_compare(set.address, OPS.indexOf(op) + 1, at, at + 2 * count,
        at + 8 * count, at + 10 * count, at + 4 * count, count);
      return {
        z: words(8 * count).slice(),
        exact: words(10 * count).slice(),
        units: new Int32Array(this.#wasm.memory.buffer, at + 4 * count, count).slice(),
        flags: flags & 0xff,
        exactFlags: flags >>> 8,
      };
    });
  }

  // a + b in a format of sums, rounded.
  add(format, a, b) {
    return this.#wasm.page_add(SUM_FORMATS[format], a, b) >>> 0;
  }

  // The sum of the values as the switch aggregates them: exact, rounded once.
  exactSum(format, values) {
    return this.#withWords(values, (at) =>
      this.#wasm.page_exact_sum(SUM_FORMATS[format], at, values.length) >>> 0);
  }

  // The sums that all orders of the values give: [{ bits, orders }].
  orders(format, values) {
    let most = 1;
    for (let count = 2; count <= values.length; count++) most *= count;
    return this.#withWords(values, (at) => this.#withMemory(8 * most, (sums) => {
      const count = this.#wasm.page_orders(SUM_FORMATS[format], at, values.length, sums);
      const words = new Uint32Array(this.#wasm.memory.buffer, sums, 2 * count);
      return Array.from({ length: count }, (_, n) => ({ bits: words[2 * n], orders: words[2 * n + 1] }));
    }));
  }

  // A job's slots, as the switch has them: packet(chunk, worker, bits) gives { name, meaning, send, sum } of what it
  // does; entry(slot, which) what one holds.
  makeSlots(format, workers, count) {
    const wasm = this.#wasm, address = wasm.page_slots_make(SUM_FORMATS[format], workers, count);
    const entry = (slot, which) => this.#withMemory(16, (at) => {
      wasm.page_slots_entry(address, slot, which, at);
      const [state, chunk, seen, result] = new Uint32Array(wasm.memory.buffer, at, 4);
      return { state: ENTRY_STATES[state], chunk, seen, result };
    });
    const packet = (chunk, worker, bits) => {
      const action = wasm.page_slots_packet(address, chunk, worker, bits);
      return {
        name: this.#text(wasm.aggregate_action_name(action)), meaning: this.#text(wasm.aggregate_action_meaning(action)),
        send: SENDS[wasm.aggregate_action_send(action)],
        sum: entry(chunk % count, Math.floor(chunk / count) % 2).result,
      };
    };
    return { entry, packet, free: () => wasm.page_slots_free(address) };
  }

  #build(name) {
    const start = performance.now();
    const address = this.#withMemory(4, (out) => {
      const error = this.#withText(name, (at) => this.#wasm.netfc_set_build(at, out));
      if (error) throw new Error(this.#text(this.#wasm.netfc_strerror(error)));
      return new DataView(this.#wasm.memory.buffer).getUint32(out, true);
    });
    const milliseconds = performance.now() - start;
    return {
      address, name, format: splitSet(name).format, milliseconds,
      scale: this.#wasm.netfc_set_scale(address),
      slots: this.#wasm.page_memory(address, 0),
      plain: this.#wasm.page_memory(address, 1),
    };
  }

  #takeStep(kind, what, table, key) {
    this.#walk.push({
      kind: STEP_KINDS[kind], what: this.#text(what), table: table ? this.#text(table) : null,
      key: key >>> 0, fields: [],
    });
  }

  #takeField(name, word, digits, meaning) {
    this.#walk.at(-1).fields.push({
      name: this.#text(name), word: word >>> 0, digits, meaning: this.#text(meaning),
    });
  }

  #format(name) {
    return this.#withText(name, (at) => this.#wasm.netfc_format_by_name(at));
  }

  #text(address) {
    const bytes = new Uint8Array(this.#wasm.memory.buffer, address);
    return this.#decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  #withMemory(bytes, use) {
    const address = this.#wasm.malloc(bytes);
    if (!address) throw new Error("out of memory");
    try {
      return use(address);
    } finally {
      this.#wasm.free(address);
    }
  }

  #withText(text, use) {
    const bytes = new TextEncoder().encode(text);
    return this.#withMemory(bytes.length + 1, (at) => {
      const memory = new Uint8Array(this.#wasm.memory.buffer);
      memory.set(bytes, at);
      memory[at + bytes.length] = 0;
      return use(at);
    });
  }

  #withWords(words, use) {
    return this.#withMemory(4 * words.length, (at) => {
      new Uint32Array(this.#wasm.memory.buffer, at, words.length).set(words);
      return use(at);
    });
  }
}
