/* expect: status=memory_limit limits: memory_mb=32 disk_bytes=1073741824 */
/* The attacker wants to hold memory in files, where no heap shows it. */
const fs = require("fs");
const piece = Buffer.alloc(1 << 20, 1);
for (let i = 0; i < 1000; i++) {
    fs.writeFileSync(`f${i}`, piece);
}
