// expect: js-process
const { execSync } = require("child_process");
execSync("ls -la").toString();
