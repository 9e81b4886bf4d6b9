/* expect: status=ok out=** names=real,sub/real */
/* The attacker wants the walk to leave the directory, or to go round in it for ever. */
const fs = require("fs");
fs.mkdirSync("sub");
fs.writeFileSync("real", "x");
fs.writeFileSync("sub/real", "x");
fs.symlinkSync("/", "root");
fs.symlinkSync("..", "up");
fs.symlinkSync("../../../../..", "sub/far-up");
fs.symlinkSync(".", "here");
fs.symlinkSync("../sub", "sub/loop");
fs.symlinkSync("self", "self");
fs.symlinkSync("b", "a");
fs.symlinkSync("a", "b");
