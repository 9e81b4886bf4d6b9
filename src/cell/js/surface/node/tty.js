/* tty.js - there is no terminal. */
function none(name) {
    return function unavailable() {
        throw new Error(`tty.${name} is not available in vial: a run has no terminal`);
    };
}

module.exports = { isatty: () => false, ReadStream: none("ReadStream"), WriteStream: none("WriteStream") };
