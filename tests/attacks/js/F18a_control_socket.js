/* expect: status=ok value=["EBADF","EBADF","EBADF","EBADF"] */
/* The attacker wants to speak to the host on the cell's own socket. */
const fs = require("fs");
const forged = Buffer.from("0000000007000000", "hex");
[() => fs.writeSync(3, forged), () => fs.readSync(3, forged), () => fs.closeSync(3), () => fs.fstatSync(3)].map((f) => {
    try {
        return f();
    } catch (error) {
        return error.code;
    }
});
