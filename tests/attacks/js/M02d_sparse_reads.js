/* expect: status=memory_limit|exception|ok limits: memory_mb=32 wall_ms=5000 */
/* The attacker wants memory that shows in no count of pages: the page tables of buffers that are only read. */
let sum = 0;
const all = [];
for (let i = 0; i < 200; i++) {
    const bytes = new Uint8Array(256 << 20);
    for (let at = 0; at < bytes.length; at += 2 << 20) {
        sum += bytes[at];
    }
    all.push(bytes);
}
sum;
