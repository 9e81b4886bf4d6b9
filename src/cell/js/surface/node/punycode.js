/* punycode.js - the package punycode. */
module.exports = require("package-punycode");
