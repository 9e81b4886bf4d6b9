/* expect: status=memory_limit|exception limits: memory_mb=32 wall_ms=10000 */
/* The attacker wants all memory, outside of the engine's heap, by buffers it writes to. */
const all = [];
for (;;) {
    all.push(new Uint8Array(1 << 20).fill(1));
}
