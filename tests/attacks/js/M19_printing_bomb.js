/* expect: status=memory_limit|exception limits: memory_mb=32 wall_ms=8000 */
/* The attacker wants memory while the host is kept busy reading: a line for each piece that it takes. */
const all = [];
for (;;) {
    all.push(new Uint8Array(65536).fill(7));
    console.log("");
}
