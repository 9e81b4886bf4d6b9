/* expect: status=ok out=** outputs=4 */
/* The attacker wants names of files to do something to whoever handles them. */
const fs = require("fs");
for (const name of ["line\nbreak", "\x1b[2J\x1b]0;owned\x07", "\x7f", "\u009b31m", "a\tb", "-rf", "*", "$(reboot)",
    "\u202etxt.exe", "..\n", "\x01/inside"]) {
    if (name.includes("/")) {
        fs.mkdirSync(name.split("/")[0]);
    }
    fs.writeFileSync(name, "x");
}
