/* console.js - console as a module is the global one; the class Console is for other streams. */
class Console {
    constructor(stdout, stderr = undefined) {
        const out = stdout?.stdout ?? stdout;
        const err = (stdout?.stderr ?? stderr) ?? out;
        if (typeof out?.write !== "function") {
            throw new TypeError("Console expects a writable stream instance for stdout");
        }
        let indent = "";
        const counters = new Map();
        const times = new Map();
        const print = (stream) => (...args) => {
            const text = vial.formatArguments(args);
            stream.write(`${indent}${indent === "" ? text : text.replaceAll("\n", `\n${indent}`)}\n`);
        };
        const log = print(out);
        const error = print(err);
        const group = (...args) => {
            if (args.length > 0) {
                log(...args);
            }
            indent += "  ";
        };
        const lap = (label, ...args) => {
            if (times.has(label)) {
                log(`${label}: ${vial.now() - times.get(label)}ms`, ...args);
            }
        };
        Object.assign(this, {
            log, info: log, debug: log, dirxml: log, error, warn: error, group, groupCollapsed: group,
            trace: (...args) => error(`Trace${args.length > 0 ? ": " : ""}${vial.formatArguments(args)}`),
            dir: (value, options) => log(vial.inspect(value, { customInspect: false, ...options })),
            assert: (condition, ...args) => {
                if (!condition) {
                    error(`Assertion failed${args.length > 0 ? `: ${vial.formatArguments(args)}` : ""}`);
                }
            },
            clear: () => {},
            groupEnd: () => {
                indent = indent.slice(2);
            },
            count: (label = "default") => {
                counters.set(label, (counters.get(label) ?? 0) + 1);
                log(`${label}: ${counters.get(label)}`);
            },
            countReset: (label = "default") => counters.delete(label),
            time: (label = "default") => times.set(label, vial.now()),
            timeLog: (label = "default", ...args) => lap(label, ...args),
            timeEnd: (label = "default") => {
                lap(label);
                times.delete(label);
            },
            table: () => {
                throw new Error("Console.table is not available in vial: use the global console.table");
            },
        });
    }
}

Object.defineProperty(vial.console, "Console", { value: Console, writable: true, configurable: true });
module.exports = vial.console;
