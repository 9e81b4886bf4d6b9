/* expect: status=memory_limit|exception|ok limits: memory_mb=32 wall_ms=5000 */
/* The attacker wants all address space, by buffers it never touches. */
const all = [];
for (let i = 0; i < 2000; i++) {
    all.push(new ArrayBuffer(64 << 20));
}
all.length;
