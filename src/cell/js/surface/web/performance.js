/* performance.js - marks and measures: the members of performance that are not a clock. */

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");

/* A program that marks without end must not fill the memory with marks. */
const ENTRIES_MAX = 10000;

const entries = [];
const KEY = Symbol("entry");

export class PerformanceEntry {
    #state;

    constructor(key, state) {
        if (key !== KEY) {
            throw new TypeError("Illegal constructor");
        }
        this.#state = state;
    }

    get name() {
        return this.#state.name;
    }

    get entryType() {
        return this.#state.entryType;
    }

    get startTime() {
        return this.#state.startTime;
    }

    get duration() {
        return this.#state.duration;
    }

    get detail() {
        return this.#state.detail;
    }

    toJSON() {
        return { ...this.#state };
    }

    [inspectSymbol](depth, options, inspect) {
        return `${this.constructor.name} ${inspect(this.toJSON(), options)}`;
    }
}

function detailOf(options) {
    return options?.detail === undefined || options.detail === null ? null
        : structuredClone(options.detail);
}

export class PerformanceMark extends PerformanceEntry {
    constructor(name, options = undefined) {
        if (arguments.length === 0) {
            throw new TypeError('The "name" argument must be specified');
        }
        const startTime = options?.startTime ?? vial.now();
        if (startTime < 0) {
            throw new TypeError("The mark's startTime must not be negative");
        }
        super(KEY, { name: `${name}`, entryType: "mark", startTime, duration: 0,
            detail: detailOf(options) });
    }
}

export class PerformanceMeasure extends PerformanceEntry {}

function remember(entry) {
    if (entries.length >= ENTRIES_MAX) {
        entries.shift();
    }
    entries.push(entry);
    return entry;
}

/* A time, or the time of the last mark of that name. */
function timeOf(mark) {
    if (typeof mark === "number") {
        return mark;
    }
    const found = entries.findLast((entry) => entry.entryType === "mark" && entry.name === `${mark}`);
    if (found === undefined) {
        throw new DOMException(`The "${mark}" performance mark has not been set`, "SyntaxError");
    }
    return found.startTime;
}

function byTime(list) {
    return list.sort((a, b) => a.startTime - b.startTime);
}

export const members = {
    mark(name, options = undefined) {
        return remember(new PerformanceMark(name, options));
    },
    measure(name, start = undefined, end = undefined) {
        const options = start !== null && typeof start === "object" ? start : { start, end };
        let from = options.start === undefined ? 0 : timeOf(options.start);
        let to = options.end === undefined ? vial.now() : timeOf(options.end);
        if (options.duration !== undefined && options.start !== undefined) {
            to = from + options.duration;
        } else if (options.duration !== undefined) {
            from = to - options.duration;
        }
        return remember(new PerformanceMeasure(KEY, { name: `${name}`, entryType: "measure",
            startTime: from, duration: to - from, detail: detailOf(options) }));
    },
    getEntries() {
        return byTime([...entries]);
    },
    getEntriesByName(name, type = undefined) {
        return byTime(entries.filter((entry) => entry.name === `${name}` &&
            (type === undefined || entry.entryType === type)));
    },
    getEntriesByType(type) {
        return byTime(entries.filter((entry) => entry.entryType === `${type}`));
    },
    clearMarks(name = undefined) {
        clear("mark", name);
    },
    clearMeasures(name = undefined) {
        clear("measure", name);
    },
};

function clear(type, name) {
    for (let i = entries.length - 1; i >= 0; i--) {
        if (entries[i].entryType === type && (name === undefined || entries[i].name === `${name}`)) {
            entries.splice(i, 1);
        }
    }
}
