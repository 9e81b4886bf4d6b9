/* expect: status=memory_limit|exception limits: memory_mb=32 wall_ms=10000 */
/* The attacker wants all memory, by arrays of numbers. */
const all = [];
for (;;) {
    all.push(new Array(10000).fill(1.5));
}
