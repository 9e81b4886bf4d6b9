/* expect: status=ok value=[1] */
/* The attacker wants the runtime's record of proxies to miss one that is made by another name. */
const Real = Proxy;
globalThis.Proxy = class {};
const hidden = Reflect.construct(Real, [[1], {}]);
hidden;
