/* module.js - what programs ask the module system about. Loading itself is not here. */
function plainName(name) {
    return `${name}`.replace(/^node:/, "");
}

function isBuiltin(name) {
    return vial.builtinNames.includes(plainName(name));
}

/* Knows the built-in modules; the module loader makes the require() of a program itself. */
function createRequire(filename) {
    if (typeof filename !== "string" && !(filename instanceof URL)) {
        throw new TypeError("The argument 'filename' must be a file URL object, file URL string, or " +
            "absolute path string.");
    }
    return vial.createRequire(`${filename}`);
}

function Module(id = "") {
    this.id = id;
    this.exports = {};
}

module.exports = Object.assign(Module, {
    Module, builtinModules: [...vial.builtinNames].filter((name) => name !== "sqlite" && name !== "test"),
    createRequire, isBuiltin,
});
