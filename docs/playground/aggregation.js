// SPDX-License-Identifier: BSD-3-Clause
// The page of aggregations: a course, step by step, and the sums that come of it.

const LOSSES = ["0", "10", "30"]; // percent
const MOST_COURSES = 999;
const RUN_MILLISECONDS = 300;
const BEGUN = { format: "fp16", loss: "10", course: "1" };

class Aggregation {
  #library;
  #state;
  #course = null;
  #timer = 0;

  constructor(library) {
    this.#library = library;
    $("format").replaceChildren(...Object.keys(SUM_FORMATS).map((name) => element("option", { value: name }, name)));
    $("loss").replaceChildren(...LOSSES.map((loss) => element("option", { value: loss },
      loss === "0" ? "none" : `${loss} %`)));
    for (const name of ["format", "loss"]) $(name).addEventListener("change", () => this.#change(name, $(name).value));
    const onClick = (id, run) => $(id).addEventListener("click", run);
    onClick("step", () => this.#step());
    onClick("lose", () => this.#step(true));
    onClick("run", () => (this.#timer ? this.#pause() : this.#run()));
    onClick("finish", () => this.#finish());
    onClick("again", () => this.#begin());
    onClick("other", () => this.#change("course", String(Number(this.#state.course) % MOST_COURSES + 1)));
    this.#makeHeads();
    addEventListener("hashchange", () => this.#restore());
    this.#restore();
  }

  #restore() {
    const said = new URLSearchParams(location.hash.slice(1)), faults = [];
    const isGood = {
      format: (text) => Object.hasOwn(SUM_FORMATS, text), loss: (text) => LOSSES.includes(text),
      course: (text) => /^[1-9]\d{0,2}$/.test(text),
    };
    this.#state = { ...BEGUN };
    for (const [name, good] of Object.entries(isGood)) {
      if (said.get(name) === null) continue;
      if (good(said.get(name))) this.#state[name] = said.get(name);
      else faults.push(`${name}=${quoted(said.get(name))}`);
    }
    setText("alert", faults.length ? `The address has what this page does not know: ${faults.join(", ")}.` : "");
    $("alert").hidden = !faults.length;
    this.#begin();
  }

  #change(name, value) {
    this.#state = { ...this.#state, [name]: value };
    history.replaceState(null, "", `#${new URLSearchParams(this.#state)}`);
    this.#begin();
  }

  #begin() {
    this.#pause();
    this.#course?.free();
    const { format, loss, course } = this.#state;
    this.#course = new Course(this.#library, { format, loss: Number(loss), course: Number(course) });
    for (const name of ["format", "loss"]) $(name).value = this.#state[name];
    this.#show();
  }

  #step(isLost = false) {
    this.#course.step(isLost);
    if (this.#course.isOver()) this.#pause();
    this.#show();
  }

  #finish() {
    this.#pause();
    while (!this.#course.isOver()) this.#course.step();
    this.#show();
  }

  #run() {
    this.#timer = setInterval(() => this.#step(), RUN_MILLISECONDS);
    setText("run", "Pause");
    this.#step();
  }

  #pause() {
    clearInterval(this.#timer);
    this.#timer = 0;
    setText("run", "Run");
  }

  #show() {
    const isOver = this.#course.isOver();
    for (const id of ["step", "lose", "run", "finish"]) $(id).disabled = isOver;
    setText("event", this.#course.events.at(-1) ?? "Each worker has sent its first two chunks, one for each slot.");
    this.#showWorkers();
    this.#showPackets();
    this.#showSlots();
    this.#showSums();
    this.#showCounts();
    $("events").replaceChildren(...this.#course.events.map((text) => element("li", {}, text)));
    $("events").parentElement.scrollTop = $("events").parentElement.scrollHeight;
  }

  // They stay, so that what has the focus in them keeps it.
  #makeHeads() {
    const heads = {
      workers: [[word("worker")], ...CHUNKS.map((_, chunk) =>
        [element("span", { class: "unseen" }, "chunk "), String(chunk)])],
      slots: [[word("slot")], ["entry"], [word("chunk")], ["workers' values"]],
      sums: [["floats, worker 1 first"], ["floats, worker 4 first"], ["floats, as they came"],
        ["the switch: ", word("exact sum")]],
      counts: [["action"], ["packets"], ["meaning"]],
    };
    for (const [id, texts] of Object.entries(heads)) {
      $(id).append(element("thead", {}, element("tr", {},
        ...texts.map((children) => element("th", { scope: "col" }, ...children)))));
    }
  }

  #showWorkers() {
    const look = ({ sent, sums }, chunk) => {
      if (sums.has(chunk)) return ["✓", "has the sum"];
      return chunk < sent ? ["↑", "sent"] : ["", "not sent"];
    };
    const cell = ([sign, meaning]) => element("td", { title: meaning },
      element("span", { "aria-hidden": "true" }, sign), element("span", { class: "unseen" }, meaning));
    showBodies("workers", element("tbody", {}, ...this.#course.workers.map((worker, n) => element("tr", {},
      element("th", { scope: "row" }, String(n + 1)),
      ...CHUNKS.map((_, chunk) => cell(look(worker, chunk)))))));
  }

  #showPackets() {
    const { packets, next } = this.#course;
    $("packets").replaceChildren(...packets.map((packet, n) => element("li",
      { class: packet.sum === null ? null : "sum", "aria-current": n === next ? "step" : null }, describe(packet))));
    setText("packets-note", packets.length ? "The marked one comes next: packets overtake each other."
      : this.#course.isOver() ? "Nothing any more." : "Nothing: workers will send again.");
  }

  #showSlots() {
    const holds = ({ state, seen, result }) => {
      if (state === "empty") return "empty";
      if (state === "complete") return `sum ${this.#text(result)}`;
      return `has ${[...this.#course.workers.keys()].filter((n) => seen >> n & 1).map((n) => n + 1).join(", ")}`;
    };
    showBodies("slots", element("tbody", {}, ...this.#course.entries().map((entry) => element("tr",
      { class: entry.state },
      element("th", { scope: "row" }, String(entry.slot)), element("td", {}, entry.which ? "odd" : "even"),
      element("td", {}, entry.state === "empty" ? "" : String(entry.chunk)), element("td", {}, holds(entry))))));
  }

  // Of each chunk: floats added in three orders, and the switch's sum once a worker has it.
  #showSums() {
    const found = { right: 0, wrong: 0 };
    const bodies = this.#course.texts.map((_, chunk) => this.#sumsOfChunk(chunk, found));
    showBodies("sums", ...bodies);
    const all = found.right + found.wrong;
    setText("sums-note", all ? `${found.wrong} of ${all} sums of floats are not the number nearest to the true sum. `
      + "The switch's are, whatever came first, was lost or came twice." : "There are none yet.");
  }

  #sumsOfChunk(chunk, found) {
    const { values, texts, arrivals, workers } = this.#course, { format } = this.#state;
    const exact = workers.find(({ sums }) => sums.has(chunk))?.sums.get(chunk) ?? null;
    const byNumber = [...workers.keys()];
    const cells = [byNumber, byNumber.toReversed(), arrivals[chunk]].map((order) => {
      if (exact === null) return element("td", {}, "…");
      const sum = order.map((worker) => values[chunk][worker]).reduce((a, b) => this.#library.add(format, a, b));
      found[sum === exact ? "right" : "wrong"]++;
      return element("td", { class: sum === exact ? null : "off" }, this.#text(sum));
    });
    const terms = texts[chunk].map((text) => (text.startsWith("-") ? `(${text})` : text)).join(" + ");
    return element("tbody", {},
      element("tr", {}, element("th", { scope: "rowgroup", colspan: 4 },
        `chunk ${chunk}: ${terms.replaceAll("-", MINUS)}`)),
      element("tr", {}, ...cells,
        element("td", { class: "good" }, exact === null ? "…" : this.#text(exact))));
  }

  #text(bits) {
    return numberText(this.#library.decodeValue(this.#state.format, bits));
  }

  #showCounts() {
    const counts = [...this.#course.counts];
    showBodies("counts", element("tbody", {}, ...counts.map(([name, { meaning, count }]) => element("tr", {},
      element("th", { scope: "row" }, name), element("td", {}, String(count)), element("td", {}, meaning)))));
  }
}

function showBodies(table, ...bodies) {
  for (const body of [...$(table).tBodies]) body.remove();
  $(table).append(...bodies);
}

async function start() {
  new Explanations();
  const say = (text) => {
    setText("alert", text);
    $("alert").hidden = false;
  };
  if (typeof WebAssembly !== "object") {
    say("This page computes with WebAssembly, which this browser does not have or does not allow.");
    return;
  }
  try {
    new Aggregation(await Library.load());
    document.body.dataset.ready = "yes";
  } catch (error) {
    say(`This page cannot compute: ${error.message}.`);
  }
}

start();
