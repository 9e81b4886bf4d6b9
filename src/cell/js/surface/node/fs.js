/* fs.js - a stand-in: runs have no files yet. */
module.exports = {};
