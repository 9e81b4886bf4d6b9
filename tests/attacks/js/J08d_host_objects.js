/* expect: status=ok value=[] */
/* The attacker wants functions of a host: a shell, files, a debugger, an engine's own test tools. */
["Deno", "Bun", "std", "os", "fs", "importScripts", "Worker",
    "XMLHttpRequest", "fetch", "WebSocket", "window", "self", "document", "navigator", "$vm", "$262", "load",
    "read", "readFile", "print", "quit", "gc", "runString", "WebAssembly", "SharedArrayBuffer", "native",
    "hooks", "debug", "describe", "jscOptions", "callGC", "vm", "Atomics.wait"].filter((name) =>
    name.split(".").reduce((at, key) => at === undefined ? undefined : at[key], globalThis) !== undefined &&
    name !== "Atomics.wait");
