/* expect: status=ok value="ENOSPC" out=f1* limits: files=500 */
/* The attacker wants to use up the names, so that nothing can be collected. */
const fs = require("fs");
let code;
try {
    for (let i = 0; ; i++) {
        fs.writeFileSync(`f${i}`, "");
    }
} catch (error) {
    ({ code } = error);
}
code;
