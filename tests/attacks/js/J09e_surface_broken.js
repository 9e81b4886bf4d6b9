/* expect: status=ok value={"a":[1,2]} */
/* The attacker wants its result forged or lost by breaking the bundled surface, and everything it stands on. */
const broken = () => {
    throw new Error("broken");
};
URL;
Buffer.from = broken;
require("events").prototype.emit = broken;
require("util").inspect = broken;
process.nextTick = broken;
Uint8Array.fromBase64 = broken;
Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array), "prototype");
Reflect.apply = broken;
Reflect.construct = broken;
Object.defineProperty = broken;
WeakMap.prototype.get = broken;
for (const attempt of [() => new URL("http://x"), () => new TextEncoder().encode("x"), () => structuredClone({}),
    () => new Response("x"), () => require("crypto"), () => require("stream")]) {
    try {
        attempt();
    } catch {
        /* broken for the guest itself */
    }
}
({ a: [1, 2] });
