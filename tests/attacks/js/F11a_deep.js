/* expect: status=ok out=** names=top limits: files=4000 */
/* The attacker wants the walk to fall off the stack, or never to come back from the depth. */
const fs = require("fs");
fs.writeFileSync("top", "x");
for (let i = 0; i < 3000; i++) {
    fs.mkdirSync("d");
    process.chdir("d");
}
fs.writeFileSync("bottom", "x");
