/* expect: status=ok out=** outputs=8 limits: disk_bytes=8388608 wall_ms=8000 */
/* The attacker wants one megabyte to become a thousand on its way out, by hard links. */
const fs = require("fs");
fs.writeFileSync("l0", Buffer.alloc(1 << 20, 120));
for (let i = 1; i < 1000; i++) {
    fs.linkSync("l0", `l${i}`);
}
