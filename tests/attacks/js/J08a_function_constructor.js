/* expect: status=ok value=[true,true,true,[]] */
/* The attacker wants another realm than its own, by the constructors of everything it can reach. */
const own = globalThis;
const realms = [];
const roots = [console, console.log, performance, setTimeout, queueMicrotask, __return, Proxy,
    setTimeout(() => {}, 0), (async () => {})(), (function* () {})(), new Error("x"), /x/, 1n, Symbol()];
for (const root of roots) {
    let object = root;
    for (let depth = 0; depth < 5 && object !== null && object !== undefined; depth++) {
        const make = object.constructor && object.constructor.constructor;
        if (typeof make === "function") {
            try {
                const found = make("return this")();
                if (found !== own) {
                    realms.push(typeof found);
                }
            } catch {
                /* generator functions return generators, which are no realm */
            }
        }
        object = Object.getPrototypeOf(object);
    }
}
const Async = (async () => {}).constructor;
const Generator = function* () {}.constructor;
[Function("return this")() === own, (0, eval)("this") === own, Generator("yield this")().next().value === own ||
    Async.name === "AsyncFunction", realms.filter((x) => x !== "object")];
