/* expect: status=ok|memory_limit|wall_limit|exception limits: memory_mb=128 wall_ms=500 */
/* The attacker wants to fill the pool for compiled code, which cannot grow. */
let sum = 0;
for (let i = 0; i < 2000; i++) {
    const f = Function("n", `let s = ${i}; for (let k = 0; k < n; k++) { ${"s = (s * 31 + k) | 0;".repeat(40)} } return s;`);
    sum += f(2000);
}
sum !== 0;
