/* fs.js - node:fs on the cell's private directory. There is no watching: nobody but the program
 * itself changes a file, so there is nothing that it could be told. */
"use strict";

const { Buffer } = require("buffer");
const core = require("../lib/fs_core.js");
const { Dir, openDirectory } = require("../lib/fs_dir.js");
const { requireCallback, callLater } = require("../lib/fs_later.js");

const { constants, operations, toFd, toPath, withCode } = core;
const promisifyCustom = Symbol.for("nodejs.util.promisify.custom");

const fs = {};

/* How many of the first arguments are paths or descriptors, which are looked at before the call
 * returns: a program that gives nonsense is told at once, not by its callback. */
const PATHS = {
    __proto__: null,
    access: 1, chmod: 1, chown: 1, copyFile: 2, cp: 2, link: 2, lstat: 1, lutimes: 1, mkdir: 1,
    mkdtemp: 1, open: 1, readdir: 1, readlink: 1, realpath: 1, rename: 2, rm: 1, rmdir: 1, stat: 1,
    statfs: 1, symlink: 2, unlink: 1, utimes: 1,
};
const FDS = {
    __proto__: null,
    close: 1, fchmod: 1, fdatasync: 1, fstat: 1, fsync: 1, ftruncate: 1, futimes: 1,
};

function checkEarly(name, args) {
    for (let i = 0; i < (PATHS[name] ?? 0); i++) {
        args[i] = toPath(args[i]);
    }
    if (FDS[name] !== undefined) {
        toFd(args[0]);
    }
}

function withCallback(name, operation) {
    const asynchronous = {
        [name](...args) {
            const callback = requireCallback(args.pop());
            checkEarly(name, args);
            callLater(callback, () => operation(...args));
        },
    }[name];
    return asynchronous;
}

function named(name, operation) {
    const full = `${name}Sync`;
    return {
        [full](...args) {
            return operation(...args);
        },
    }[full];
}

for (const name of Object.keys(operations)) {
    fs[name] = withCallback(name, operations[name]);
    fs[`${name}Sync`] = named(name, operations[name]);
}

/* readFile and the like are given options or not; a callback alone is their last argument. */
for (const name of ["readFile", "writeFile", "appendFile", "truncate"]) {
    const operation = operations[name];
    fs[name] = {
        [name](target, ...args) {
            const callback = requireCallback(args.pop());
            const resolved = typeof target === "number" ? toFd(target) : toPath(target);
            if (name === "writeFile" || name === "appendFile") {
                core.toBytes(args[0], "utf8");
            }
            callLater(callback, () => operation(resolved, ...args));
        },
    }[name];
}

fs.exists = function exists(path, callback) {
    requireCallback(callback);
    callLater((error, found) => callback(found === true), () => operations.exists(path));
};
fs.exists[promisifyCustom] = (path) => new Promise((resolve) => fs.exists(path, resolve));

fs.cp = function cp(from, to, options, callback) {
    if (typeof options === "function") {
        callback = options;
        options = {};
    }
    requireCallback(callback);
    core.cpAsync(toPath(from, "src"), toPath(to, "dest"), options).then(
        () => setImmediate(callback, null), (error) => setImmediate(callback, error));
};

/* Reading and writing call back with the buffer as well. */
function withBuffer(name, operation, key, bufferKey) {
    fs[name] = {
        [name](fd, buffer, ...args) {
            const callback = requireCallback(args.pop());
            toFd(fd);
            if (name === "read" && !core.isView(buffer)) { /* (fd, options, callback) */
                const options = typeof buffer === "object" && buffer !== null ? buffer : {};
                args = [options];
                buffer = options.buffer ?? Buffer.alloc(16384);
            }
            setImmediate(() => {
                let count;
                try {
                    count = operation(fd, buffer, ...args);
                } catch (error) {
                    callback(error, 0, buffer);
                    return;
                }
                callback(null, count, buffer);
            });
        },
    }[name];
    fs[name][promisifyCustom] = (...args) => new Promise((resolve, reject) => {
        fs[name](...args, (error, count, buffer) => {
            if (error) {
                reject(error);
            } else {
                resolve({ [key]: count, [bufferKey]: buffer });
            }
        });
    });
}

withBuffer("read", operations.read, "bytesRead", "buffer");
withBuffer("write", operations.write, "bytesWritten", "buffer");
withBuffer("readv", operations.readv, "bytesRead", "buffers");
withBuffer("writev", operations.writev, "bytesWritten", "buffers");

const readWithOptions = fs.read;
fs.read = function read(fd, ...args) {
    if (args.length === 1) { /* (fd, callback) */
        args.unshift({});
    }
    readWithOptions(fd, ...args);
};
fs.read[promisifyCustom] = readWithOptions[promisifyCustom];

fs.realpath.native = withCallback("realpath", core.realpathNative);
fs.realpathSync.native = core.realpathNative;
fs.lchown = fs.fchown = fs.chown;
fs.lchownSync = fs.fchownSync = fs.chownSync;

fs.opendirSync = function opendirSync(path, options) {
    return openDirectory(path, options);
};
fs.opendir = withCallback("opendir", openDirectory);

fs.createReadStream = function createReadStream(path, options) {
    return new fs.ReadStream(path, options);
};
fs.createWriteStream = function createWriteStream(path, options) {
    return new fs.WriteStream(path, options);
};

function noWatching() {
    throw withCode(new Error("files cannot be watched here: nobody but the program itself can " +
        "change them"), "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM");
}
fs.watch = function watch() {
    noWatching();
};
fs.watchFile = function watchFile() {
    noWatching();
};
fs.unwatchFile = function unwatchFile() {};

Object.assign(fs, {
    Dirent: core.Dirent,
    Stats: core.Stats,
    Dir,
    F_OK: constants.F_OK,
    R_OK: constants.R_OK,
    W_OK: constants.W_OK,
    X_OK: constants.X_OK,
    constants,
});

/* Streams and promises bring more modules with them: those who use them wait for that, not all. */
function defineLazily(name, make) {
    Object.defineProperty(fs, name, {
        enumerable: true,
        configurable: true,
        get() {
            const value = make();
            fs[name] = value;
            return value;
        },
        set(value) {
            Object.defineProperty(fs, name,
                { value, writable: true, enumerable: true, configurable: true });
        },
    });
}
defineLazily("ReadStream", () => require("../lib/fs_streams.js").ReadStream);
defineLazily("WriteStream", () => require("../lib/fs_streams.js").WriteStream);
defineLazily("FileReadStream", () => fs.ReadStream);
defineLazily("FileWriteStream", () => fs.WriteStream);
defineLazily("promises", () => require("../lib/fs_promises.js"));

module.exports = fs;
