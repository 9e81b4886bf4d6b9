/* timers.js - timers: the globals, and their promises. */
const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = vial.timers;

module.exports = {
    setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate,
    get promises() {
        return vial.require("timers/promises");
    },
};
