/* expect: status=ok out=** names=z limits: files=3000 */
/* The attacker wants the count of what is left out to be the problem. */
const fs = require("fs");
fs.writeFileSync("z", "x");
for (let i = 0; i < 2900; i++) {
    fs.symlinkSync("/etc/passwd", `l${i}`);
}
