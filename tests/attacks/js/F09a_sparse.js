/* expect: status=ok out=** outputs=1 limits: disk_bytes=1048576 */
/* The attacker wants holes to count as bytes, a gigabyte of them. */
const fs = require("fs");
for (let i = 0; i < 1000; i++) {
    fs.writeFileSync(`s${i}`, "");
    fs.truncateSync(`s${i}`, 1048576);
}
