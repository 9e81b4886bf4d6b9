/* expect: status=ok value="undefined" */
/* The attacker wants what the host hands in to be something it can define beforehand. */
Object.defineProperty(Object.prototype, "input", { get: () => "owned", set() {}, configurable: true });
typeof input;
