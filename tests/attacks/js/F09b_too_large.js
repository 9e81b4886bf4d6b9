/* expect: status=ok value=["EFBIG","EFBIG","EFBIG"] limits: disk_bytes=1048576 */
/* The attacker wants a file beyond every limit, and the signal that comes with it. */
const fs = require("fs");
const fd = fs.openSync("x", "w");
[() => fs.ftruncateSync(fd, 2 ** 50), () => fs.writeSync(fd, Buffer.alloc(9), 0, 9, 2 ** 40),
    () => fs.truncateSync("x", 1048577)].map((f) => {
    try {
        return f();
    } catch (error) {
        return error.code;
    }
});
