/* expect: status=ok value=[4] */
/* The attacker wants the runtime to fail on objects that cannot be changed. */
Object.freeze(Object.prototype);
Object.freeze(Array.prototype);
Object.freeze(Promise.prototype);
Object.freeze(globalThis);
const p = Object.freeze(Promise.resolve([4]));
p;
