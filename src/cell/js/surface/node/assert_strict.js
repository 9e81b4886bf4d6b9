/* assert_strict.js - assert whose plain comparisons are strict. */
module.exports = vial.require("assert").strict;
