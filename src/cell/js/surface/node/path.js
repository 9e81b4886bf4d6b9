/* path.js - the package path-browserify, and win32 from a file of its own. */
import posix from "path-browserify";
import { checkObject, checkString } from "../lib/errors.js";

/* The package says less than Node about what is no path. */
function checked(name, names) {
    const original = posix[name];
    posix[name] = { [name](...args) {
        const count = names === undefined ? args.length : names.length;
        for (let i = 0; i < count; i++) {
            checkString(args[i], names === undefined ? name === "resolve" ? `paths[${i}]` : "path" : names[i]);
        }
        return original(...args);
    } }[name];
}
for (const name of ["normalize", "isAbsolute", "dirname", "basename", "extname", "parse"]) {
    checked(name, ["path"]);
}
checked("relative", ["from", "to"]);
checked("join", undefined);
checked("resolve", undefined);

const { format: join } = posix;
posix.format = function format(object) {
    checkObject(object, "pathObject");
    return join(object);
};

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
