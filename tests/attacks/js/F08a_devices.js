/* expect: status=ok value=["ENOENT","ENOENT","ENOENT","ENOENT","ENXIO"] */
/* The attacker wants a device, a pipe or a socket to hang on. */
const fs = require("fs");
fs.writeFileSync("x", "");
const codes = ["/dev/zero", "/dev/tty", "/proc/self/fd/3", "/dev/fd/3"].map((path) => {
    try {
        return fs.openSync(path, "r+");
    } catch (error) {
        return error.code;
    }
});
codes.concat(typeof fs.mkfifo === "function" ? "mkfifo" : "ENXIO");
