/* fs_promises.js - a stand-in: runs have no files yet. */
module.exports = {};
