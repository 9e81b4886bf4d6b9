/* fs_promises.js - node:fs/promises, which is the same object as the `promises` of node:fs. */
"use strict";

module.exports = require("fs").promises;
