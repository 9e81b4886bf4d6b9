/* expect: status=memory_limit limits: memory_mb=32 wall_ms=10000 */
/* The attacker wants all memory, by closures that hold each other. */
let last = () => 0;
for (;;) {
    const before = last;
    const room = new Array(8).fill(before);
    last = () => room.length + before.length;
}
