/* expect: status=ok value=[1,{"b":"two"}] */
/* The attacker wants to be called by the runtime through methods it has replaced. */
for (const object of [Array.prototype, String.prototype, Object, Reflect, Map.prototype, RegExp.prototype,
    Number.prototype, Function.prototype, JSON, Math]) {
    for (const key of Reflect.ownKeys(object)) {
        const descriptor = Object.getOwnPropertyDescriptor(object, key);
        if (key === "getOwnPropertyDescriptor" || key === "ownKeys" || key === "defineProperty" ||
            key === Symbol.iterator || !descriptor || !descriptor.configurable) {
            continue;
        }
        if (typeof descriptor.value === "function") {
            Reflect.defineProperty(object, key, { value: () => { while (true) {} } });
        }
    }
}
console.log("%s %d %o", "text", 1, { a: [1] });
[1, { b: "two" }];
