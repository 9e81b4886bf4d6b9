/* A proxy is shown as its target, and no trap runs.
 *
 * Differs from Node 20: looking for an inspect method runs traps there, the last number
 * is 11. */
const traps = {};
let runs = 0;
for (const name of Object.getOwnPropertyNames(Reflect)) {
    traps[name] = (...args) => { runs++; return Reflect[name](...args); };
}
console.log(new Proxy({ a: 1 }, traps), new Proxy([1, 2], traps));
console.log(new Proxy(function f() {}, traps));
console.log({ inside: new Proxy(new Proxy({ b: { c: 1 } }, traps), traps) });
const revocable = Proxy.revocable({}, {});
revocable.revoke();
console.log([revocable.proxy]);
console.log("runs", runs);
