/* expect: status=wall_limit|cpu_limit|memory_limit|ok out=** limits: files=110000 cpu_ms=1500 wall_ms=3000 */
/* The attacker wants a hundred thousand levels, and somebody to walk them. */
const fs = require("fs");
for (let i = 0; i < 100000; i++) {
    fs.mkdirSync("d");
    process.chdir("d");
}
