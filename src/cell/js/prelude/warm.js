/* warm.js - uses the language once, in the template, so that no cell has to do it for the first time.
 *
 * Much of the engine's library is itself JavaScript, which is compiled when a global first uses it: the first
 * sort or the first spread of a Map costs a cell a millisecond. Nothing here leaves a trace in the global. */
function warmArrays() {
    const numbers = [5, 3, 8, 1];
    const rows = [{ name: "a", amount: 1 }, { name: "b", amount: 2 }];

    numbers.slice().sort();
    numbers.slice().sort((a, b) => a - b);
    numbers.toSorted((a, b) => b - a).toReversed();
    numbers.map((x) => x * 2).filter((x) => x > 2).reduce((a, b) => a + b, 0);
    numbers.reduceRight((a, b) => a + b);
    numbers.forEach((x, i) => x + i);
    numbers.find((x) => x === 8);
    numbers.findLast((x) => x === 8);
    numbers.findIndex((x) => x === 9);
    numbers.some((x) => x > 4) && numbers.every((x) => x > 0);
    numbers.includes(3) && numbers.indexOf(3) && numbers.lastIndexOf(3);
    numbers.flatMap((x) => [x, [x]]).flat(2);
    numbers.concat([1], 2).join("-");
    numbers.slice(1, 2).fill(0).splice(0, 1, 4, 5);
    numbers.at(-1);
    numbers.with(0, 1);
    Array.from({ length: 3 }, (unused, i) => i);
    Array.from(new Set(numbers));
    Array.of(1, 2);
    Array.isArray(numbers);
    const [first, ...rest] = numbers;
    const { name, ...others } = rows[0];
    for (const [i, x] of numbers.entries()) {
        first + rest.length + i + x + name + others.amount;
    }
    for (const { amount } of rows) {
        amount + 1;
    }
    for (const key in rows[0]) {
        key + "";
    }
    numbers.keys();
    numbers.values();
    numbers.unshift(0);
    numbers.shift();
    numbers.push(1);
    numbers.pop();
    numbers.reverse();
    Math.max(...numbers);
    [...rows].map(({ name: n, amount: a }) => `${n}: ${a}`).join("\n");
    Object.groupBy(rows, (row) => row.name);
}

function warmCollections() {
    const map = new Map([["a", 1], ["b", 2]]);
    const set = new Set([1, 2, 3]);

    map.set("c", (map.get("c") ?? 0) + 1);
    map.has("a");
    [...map].sort((a, b) => b[1] - a[1]).map(([k, v]) => `${k}=${v}`);
    [...map.keys()].concat([...map.values()], [...map.entries()]);
    map.forEach((v, k) => k + v);
    for (const [k, v] of map) {
        k + v;
    }
    map.delete("a");
    [...set].map((x) => x + 1);
    set.forEach((x) => x);
    for (const x of set) {
        set.has(x);
    }
    set.union(new Set([4])).intersection(set).difference(set);
    new WeakMap([[map, 1]]).get(map);
    new WeakSet([set]).has(set);
    new WeakRef(map).deref();
    Map.groupBy([1, 2], (x) => x % 2);
    Object.fromEntries(map);
    Object.entries({ a: 1 }).map(([k, v]) => k + v);
    Object.keys({ a: 1 }).concat(Object.values({ a: 1 }));
    Object.assign({}, { a: 1 }, { ...{ b: 2 } });
    Object.freeze({ a: 1 });
    Object.getOwnPropertyNames({ a: 1 });
    Object.defineProperty({}, "x", { get() { return 1; }, enumerable: true }).x;
    Object.create(null);
    Object.hasOwn({ a: 1 }, "a");
    structured({ a: [1, { b: 2 }] });
}

/* What programs do with data: through JSON and back. */
function structured(value) {
    return JSON.parse(JSON.stringify(value, null, 2), (key, v) => v);
}

function warmText() {
    const text = "The quick brown fox, 12 and 34; it's \"here\".";

    text.split(/[\s,;]+/).map((word) => word.toLowerCase().trim()).filter(Boolean);
    text.replace(/(\w+) (\w+)/, "$2 $1");
    text.replace(/\d+/g, (digits) => String(Number(digits) + 1));
    text.replaceAll("o", "0");
    [...text.matchAll(/(?<number>\d+)/g)].map((m) => m.groups.number);
    text.match(/\d+/g);
    /^(?:a|b)+$/iu.test("ab");
    text.search("fox");
    text.startsWith("The") && text.endsWith(".") && text.includes("fox");
    text.padStart(60, "-").padEnd(70, "-").slice(0, 5).substring(1, 2);
    text.charCodeAt(0) + text.codePointAt(1) + text.indexOf("q") + text.lastIndexOf("q");
    text.at(-1).repeat(3).concat("x").toUpperCase();
    [...text].reverse().join("");
    for (const c of "ab") {
        c.localeCompare("b");
    }
    text.normalize("NFC");
    String.raw`a\n${1}`;
    String.fromCharCode(65);
    encodeURIComponent(decodeURIComponent("%20"));
    (1234.5678).toFixed(2);
    (255).toString(16) + parseInt("ff", 16) + parseFloat("1.5e3");
    (1234567.891).toLocaleString();
    Number.isInteger(Number("42")) && Number.isFinite(1) && isNaN("x");
    Math.round(2.5) + Math.floor(1.5) + Math.ceil(1.2) + Math.sqrt(2) + Math.pow(2, 3) + Math.hypot(3, 4);
    Math.abs(-1) + Math.min(1, 2) + Math.trunc(1.5) + Math.sign(-2) + Math.log(2) + Math.sin(1);
    (2n ** 70n).toString() + BigInt("12");
}

function warmTime() {
    const date = new Date(0);

    date.toISOString();
    date.toString();
    date.toLocaleDateString("en-US", { weekday: "long", year: "numeric", month: "short", day: "numeric" });
    date.toLocaleTimeString();
    date.getTime() + date.getFullYear() + date.getMonth() + date.getDate() + date.getDay();
    date.setDate(2);
    date.setHours(1, 2, 3, 4);
    new Date(2024, 1, 29, 12);
    Date.parse("2024-02-29T12:00:00Z");
    Date.UTC(2024, 1);
    new Intl.DateTimeFormat("en", { timeZone: "Europe/Berlin", dateStyle: "full" }).format(date);
    new Intl.NumberFormat("en", { style: "currency", currency: "EUR" }).format(1234.5);
}

function* warmCount(n) {
    for (let i = 0; i < n; i++) {
        yield i;
    }
}

function warmObjects() {
    class Base {
        #secret = 1;
        static made = 0;

        constructor(name) {
            this.name = name;
            Base.made++;
        }

        get secret() {
            return this.#secret;
        }

        describe(prefix = "", ...more) {
            return `${prefix}${this.name}${more.length}`;
        }
    }
    class Derived extends Base {
        describe() {
            return super.describe("x", 1, 2);
        }
    }
    const hadProxies = proxiesExist;
    const proxy = new Proxy({ a: 1 }, { get: (target, key) => Reflect.get(target, key) });
    const derived = new Derived("d");

    proxiesExist = hadProxies; /* this one is gone when the guest comes */
    derived.describe() + derived.secret + proxy.a + (derived instanceof Base);
    [...warmCount(3)].length;
    const iterator = warmCount(2);
    iterator.next();
    iterator.return(1);
    try {
        null.x;
    } catch (error) {
        String(error) + error.stack + (error instanceof TypeError);
    } finally {
        Symbol("x").toString() + Symbol.for("y").description;
    }
    const bytes = new Uint8Array([1, 2, 3]);
    bytes.map((x) => x + 1).subarray(1).set([1]);
    new Float64Array(4).fill(1.5).reduce((a, b) => a + b);
    new DataView(bytes.buffer).getUint8(0);
    ((...list) => list.length)(...bytes);
    const { a: { b: deep = 5 } = {} } = { a: {} };
    derived?.name?.length ?? deep;
    (function () { return arguments.length + this.x; }).call({ x: 1 }, 1, 2);
    (() => 1).bind(null)();
    label: for (let i = 0; i < 2; i++) {
        switch (i) {
        case 0:
            continue label;
        default:
            break label;
        }
    }
}

/* The engine runs what is left of these when the call from C that warms returns. */
async function warmPromises() {
    const wait = (value) => new Promise((resolve) => resolve(value));
    const stream = async function* () {
        yield await wait(1);
    };

    await Promise.all([wait(1), 2, Promise.resolve(3)]);
    await Promise.allSettled([wait(1), Promise.reject(new Error("warm"))]);
    await Promise.race([wait(1)]);
    await Promise.any([wait(1)]);
    await wait(1).then((x) => x + 1).catch(() => 0).finally(() => 0);
    for await (const x of stream()) {
        x + 1;
    }
    try {
        await Promise.reject(new Error("warm"));
    } catch (error) {
        return error.message;
    }
    return Promise.withResolvers();
}

function warmLibrary() {
    warmArrays();
    warmCollections();
    warmText();
    warmTime();
    warmObjects();
    warmPromises();
}
