// SPDX-License-Identifier: BSD-3-Clause
// A job's course: workers, the packets on their way, and the switch's slots. The slots are the switch's own, in
// WebAssembly; workers and network are simpler here than netfc_allreduce and real ones.

const WORKERS = 4;
const SLOTS = 2;
// Values of each chunk by worker; B: so large that the next number of the format is two above it.
const CHUNKS = [
  ["B", "1", "1", "-B"], ["1", "B", "-B", "0.5"], ["0.1", "0.2", "0.3", "0.4"], ["-B", "3", "B", "1"],
  ["B", "0.75", "0.75", "1"], ["1", "1", "1", "B"],
];
const LARGE = { fp16: 2048, posit16: 512, bf16: 256, posit16_es2: 1024, fp32: 16777216, fp8_e4m3: 16, fp8_e5m2: 8 };

class Course {
  // Gives what is on its way, in no order: { worker, chunk, sum }; sum null: the worker's values, to the switch.
  packets = [];
  next = 0; // which of them comes next
  events = []; // sentences
  counts = new Map(); // actions of the switch: how often
  arrivals = CHUNKS.map(() => []); // workers in the order in which the switch has added their values
  #library;
  #slots;
  #random;
  #loss;

  // state: { format, loss, course }
  constructor(library, { format, loss, course }) {
    this.#library = library;
    this.#slots = library.makeSlots(format, WORKERS, SLOTS);
    this.#random = randomWords(0x2f6e2b1 + 65537 * course);
    this.#loss = loss;
    this.texts = CHUNKS.map((values) => values.map((text) => text.replace("B", String(LARGE[format]))));
    this.values = this.texts.map((values) => values.map((text) => library.parseValue(format, text)));
    this.workers = Array.from({ length: WORKERS }, () => ({ sent: 0, sums: new Map() }));
    this.workers.forEach((_, worker) => this.#sendMore(worker));
    this.#choose();
  }

  free() {
    this.#slots.free();
  }

  isOver() {
    return this.workers.every(({ sums }) => sums.size === CHUNKS.length) && !this.packets.length;
  }

  // Entries of all slots: [{ slot, which, state, chunk, seen, result }].
  entries() {
    return Array.from({ length: 2 * SLOTS }, (_, n) => {
      const slot = n >> 1, which = n & 1;
      return { slot, which, ...this.#slots.entry(slot, which) };
    });
  }

  // What comes next comes, or is lost; where nothing is on its way, workers send again.
  step(isLost = false) {
    if (this.isOver()) return;
    if (!this.packets.length) {
      this.#sendAgain();
    } else {
      const [packet] = this.packets.splice(this.next, 1);
      if (isLost || this.#random() % 100 < this.#loss) this.events.push(`Lost: ${describe(packet)}.`);
      else if (packet.sum === null) this.#atSwitch(packet);
      else this.#atWorker(packet);
    }
    if (this.isOver()) this.events.push("All workers have all sums.");
    this.#choose();
  }

  #choose() {
    this.next = this.packets.length ? this.#random() % this.packets.length : 0;
  }

  // A worker sends chunk c when it has the sum of c - SLOTS.
  #sendMore(worker) {
    const { sums } = this.workers[worker], from = this.workers[worker].sent;
    let { sent } = this.workers[worker];
    while (sent < CHUNKS.length && (sent < SLOTS || sums.has(sent - SLOTS))) {
      this.packets.push({ worker, chunk: sent++, sum: null });
    }
    this.workers[worker].sent = sent;
    return Array.from({ length: sent - from }, (_, n) => from + n);
  }

  #sendAgain() {
    this.workers.forEach(({ sent, sums }, worker) => {
      for (let chunk = 0; chunk < sent; chunk++) {
        if (!sums.has(chunk)) this.packets.push({ worker, chunk, sum: null });
      }
    });
    this.events.push("Nothing is on its way any more: workers send again what they have no sum of.");
  }

  #atSwitch({ worker, chunk }) {
    const { name, meaning, send, sum } = this.#slots.packet(chunk, worker, this.values[chunk][worker]);
    this.counts.set(name, { meaning, count: (this.counts.get(name)?.count ?? 0) + 1 });
    if (name === "added" || name === "completed") this.arrivals[chunk].push(worker);
    if (send === "results") this.workers.forEach((_, to) => this.packets.push({ worker: to, chunk, sum }));
    if (send === "result") this.packets.push({ worker, chunk, sum });
    this.events.push(`The switch has ${describe({ worker, chunk, sum: null })}: ${meaning}.`);
  }

  #atWorker({ worker, chunk, sum }) {
    this.workers[worker].sums.set(chunk, sum);
    const more = this.#sendMore(worker);
    this.events.push(`Worker ${worker + 1} has the sum of chunk ${chunk}`
      + `${more.length ? `, and sends chunk ${more.join(", ")}` : ""}.`);
  }
}

function describe({ worker, chunk, sum }) {
  return sum === null ? `worker ${worker + 1}'s chunk ${chunk}` : `the sum of chunk ${chunk} to worker ${worker + 1}`;
}
