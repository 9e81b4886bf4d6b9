/* os.js - a stand-in until the data of the machine that a run may see is decided. */
module.exports = { EOL: "\n", hostname: () => "vial", platform: () => "linux", tmpdir: () => "/tmp" };
