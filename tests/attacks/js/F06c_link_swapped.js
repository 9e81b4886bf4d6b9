/* expect: status=ok out=out/* names= */
/* The attacker wants a directory that was one to be a link by the time it is read. */
const fs = require("fs");
fs.mkdirSync("out");
fs.writeFileSync("out/passwd", "x");
process.on("exit", () => {
    fs.renameSync("out", "away");
    fs.symlinkSync("/etc", "out");
});
