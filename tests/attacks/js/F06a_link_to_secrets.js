/* expect: status=ok value=["ENOENT","ENOENT"] out=** names=real */
/* The attacker wants the host to follow a symbolic link when it collects outputs. */
const fs = require("fs");
fs.writeFileSync("real", "x");
fs.symlinkSync("/etc/shadow", "shadow");
fs.symlinkSync("/etc/passwd", "passwd");
fs.symlinkSync("/proc/self/root/etc/passwd", "around");
["shadow", "passwd"].map((name) => {
    try {
        return fs.readFileSync(name, "utf8");
    } catch (error) {
        return error.code;
    }
});
