/* expect: status=ok out=** names=top level=full|rootless limits: files=25000 wall_ms=8000 cpu_ms=8000 */
/* The attacker wants the walk to fall off the stack, or never to come back from the depth. */
const fs = require("fs");
fs.writeFileSync("top", "x");
for (let i = 0; i < 20000; i++) {
    fs.mkdirSync("d");
    process.chdir("d");
}
fs.writeFileSync("bottom", "x");
