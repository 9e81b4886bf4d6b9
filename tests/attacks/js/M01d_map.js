/* expect: status=memory_limit|exception limits: memory_mb=32 wall_ms=10000 */
/* The attacker wants all memory, by one map that doubles its table. */
const all = new Map();
for (let i = 0; ; i++) {
    all.set(i, i);
}
