/* expect: status=memory_limit limits: memory_mb=32 disk_bytes=1073741824 files=100000 cpu_ms=4000 wall_ms=6000 */
/* The attacker wants one byte to cost far more than a byte: at the end of holes, and in names and links. */
const fs = require("fs");
for (let i = 0; i < 90000; i++) {
    const fd = fs.openSync(`${"n".repeat(240)}${i}`, "w");
    fs.writeSync(fd, "x", 1073741823 - 65536 * (i % 100));
    fs.closeSync(fd);
}
