/* expect: status=ok value=[] */
/* The attacker wants what the bundled surface was given to work with, by walking everything that it gives out. */
const seen = new Set();
const found = [];
const wanted = ["native", "evaluate", "writeText", "loadText", "surfaceTools", "nativeWrite", "setCallbackWrapper"];
const walk = (value, depth) => {
    if (value === null || typeof value !== "object" && typeof value !== "function" || seen.has(value) || depth > 8) {
        return;
    }
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
        const descriptor = Object.getOwnPropertyDescriptor(value, key);
        if (wanted.includes(key) && !(key === "native" && /^realpath/.test(value.name))) { /* Node has it too */
            found.push(key);
        }
        for (const part of [descriptor.value, descriptor.get, descriptor.set]) {
            walk(part, depth + 1);
        }
    }
    walk(Object.getPrototypeOf(value), depth + 1);
};
for (const name of Object.getOwnPropertyNames(globalThis)) {
    walk(globalThis[name], 0);
}
for (const name of require("module").builtinModules) {
    walk(require(name), 0);
}
found;
