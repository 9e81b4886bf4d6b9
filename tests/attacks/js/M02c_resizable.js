/* expect: status=memory_limit|exception|ok limits: memory_mb=32 wall_ms=5000 */
/* The attacker wants more than a buffer had when it was counted, by growing it. */
const all = [];
for (let i = 0; i < 64; i++) {
    const buffer = new ArrayBuffer(1, { maxByteLength: 1 << 30 });
    buffer.resize(1 << 26);
    new Uint8Array(buffer).fill(1);
    all.push(buffer);
}
all.length;
