/* expect: status=ok value="EMFILE" out=* names=a limits: open_files=16 */
/* The attacker wants to leave no descriptor for the collector. */
const fs = require("fs");
fs.writeFileSync("a", "x");
let code;
try {
    for (;;) {
        fs.openSync("a");
    }
} catch (error) {
    ({ code } = error);
}
code;
