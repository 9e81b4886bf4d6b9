/* expect: status=ok value=["refused","refused","refused"] limits: wall_ms=2000 */
/* The attacker wants import by another way than its own source: eval, a function, a microtask. */
const tries = [() => eval("import('fs')"), () => Function("return import('fs')")(),
    () => new Promise((done, fail) => queueMicrotask(() => eval("import('fs')").then(done, fail)))];
const outcomes = [];
for (const attempt of tries) {
    try {
        await attempt();
        outcomes.push("imported");
    } catch {
        outcomes.push("refused");
    }
}
outcomes;
