/* path.js - the package path-browserify, and win32 from a file of its own. */
const posix = require("path-browserify");

posix.posix = posix;
posix.toNamespacedPath = function toNamespacedPath(path) {
    return path;
};
posix._makeLong = posix.toNamespacedPath;
Object.defineProperty(posix, "win32", {
    get() {
        const win32 = vial.require("path/win32");
        Object.defineProperty(posix, "win32", { value: win32, writable: true });
        return win32;
    },
    configurable: true,
    enumerable: true,
});
module.exports = posix;
