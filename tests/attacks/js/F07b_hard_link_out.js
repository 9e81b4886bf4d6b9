/* expect: status=ok value=["ENOENT","ENOENT","EPERM"] */
/* The attacker wants a second name for a file of the host, or for the directory itself. */
const fs = require("fs");
["/etc/passwd", "/proc/1/exe", "/home/vial"].map((path) => {
    try {
        return fs.linkSync(path, "x");
    } catch (error) {
        return error.code;
    }
});
