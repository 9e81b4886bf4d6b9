/* expect: status=memory_limit limits: memory_mb=32 wall_ms=10000 */
/* The attacker wants all memory, by objects. */
const all = [];
for (let i = 0; ; i++) {
    all.push({ i, text: "x" + i, list: [i, i + 1] });
}
