/* path_posix.js - path itself: guests live in a POSIX world. */
module.exports = vial.require("path");
