/* expect: status=ok value=[{"a":1},0] */
/* The attacker wants to learn how the runtime looks at values, or to lie to it, by traps. */
let trapped = 0;
const handler = new Proxy({}, { get() { trapped++; return undefined; } });
const spy = new Proxy({ a: 1 }, handler);
console.log(spy, [spy]);
const count = trapped;
[spy, count];
