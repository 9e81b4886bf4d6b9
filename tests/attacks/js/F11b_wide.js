/* expect: status=ok out=** outputs=1000 limits: files=4000 */
/* The attacker wants more files to come back than anybody wants to have. */
const fs = require("fs");
for (let i = 0; i < 3900; i++) {
    fs.writeFileSync(`f${i}`, "x");
}
