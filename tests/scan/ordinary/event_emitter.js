// A class with listeners.
const { EventEmitter } = require("node:events");
class Thermometer extends EventEmitter {
  #celsius = 20;
  set celsius(value) {
    const before = this.#celsius;
    this.#celsius = value;
    if (value !== before) this.emit("change", { before, after: value });
  }
}
const log = [];
const t = new Thermometer();
t.on("change", (e) => log.push(e));
t.celsius = 23;
t.celsius = 23;
log;
