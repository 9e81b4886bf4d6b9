/* fs_promises.js - the functions of node:fs/promises: the operations as promises, and FileHandle. */
"use strict";

const { Buffer } = require("buffer");
const EventEmitter = require("events");
const core = require("./fs_core.js");
const { openDirectory } = require("./fs_dir.js");
const { promiseLater } = require("./fs_later.js");

const { constants, operations, toOptions, withCode } = core;
const READ_BYTES = 16384;

const promises = {};

for (const name of ["access", "appendFile", "chmod", "chown", "copyFile", "link", "lstat", "lutimes",
    "mkdir", "mkdtemp", "readFile", "readdir", "readlink", "realpath", "rename", "rm", "rmdir",
    "stat", "statfs", "symlink", "truncate", "unlink", "utimes"]) {
    const operation = operations[name];
    promises[name] = {
        async [name](...args) {
            return promiseLater(() => operation(...args));
        },
    }[name];
}
promises.lchown = promises.chown;
promises.realpath = async function realpath(path, options) {
    return promiseLater(() => core.realpathNative(path, options));
};

/* Everything that a handle can be asked to write: text, bytes, or a row of them. */
async function writeWhole(target, data, options) {
    const isIterable = typeof data === "object" && data !== null && !core.isView(data) &&
        (data[Symbol.asyncIterator] || data[Symbol.iterator]);
    if (!isIterable) {
        await promiseLater(() => operations.writeFile(target, data, options));
        return;
    }
    const { encoding, flag, mode } = toOptions(options,
        { encoding: "utf8", mode: 0o666, flag: "w" });
    const isOpen = typeof target === "object" && target !== null && typeof target.fd === "number";
    const fd = isOpen ? target.fd : operations.open(target, flag, mode);
    try {
        for await (const chunk of data) {
            operations.writeFile(fd, core.toBytes(chunk, encoding));
        }
    } finally {
        if (!isOpen) {
            operations.close(fd);
        }
    }
}

promises.writeFile = async function writeFile(target, data, options) {
    await writeWhole(target, data, options);
};
promises.cp = async function cp(from, to, options) {
    await core.cpAsync(from, to, options);
};
promises.opendir = async function opendir(path, options) {
    return promiseLater(() => openDirectory(path, options));
};
promises.watch = function watch() {
    throw withCode(new Error("files cannot be watched here: nobody but the program itself can " +
        "change them"), "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM");
};
promises.constants = constants;

/* The lines of a file, without their ends. */
async function* linesOf(stream) {
    let rest = "";
    for await (const chunk of stream) {
        const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/);
        rest = lines.pop();
        yield* lines;
    }
    rest = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
    if (rest !== "") {
        yield rest;
    }
}

class FileHandle extends EventEmitter {
    #fd;

    constructor(fd) {
        super();
        this.#fd = fd;
    }

    get fd() {
        return this.#fd;
    }

    /* Runs an operation on the descriptor; a handle that was closed has none. */
    async #run(name, ...args) {
        return promiseLater(() => {
            if (this.#fd < 0) {
                const error = withCode(new Error("file closed"), "EBADF");
                error.syscall = name;
                throw error;
            }
            return operations[name](this.#fd, ...args);
        });
    }

    async read(buffer, offset, length, position) {
        if (!core.isView(buffer)) { /* (options) */
            const options = buffer ?? {};
            ({ offset, length, position } = options);
            buffer = options.buffer ?? Buffer.alloc(READ_BYTES);
        }
        const bytesRead = await this.#run("read", buffer, offset, length, position);
        return { bytesRead, buffer };
    }

    async readv(buffers, position) {
        return { bytesRead: await this.#run("readv", buffers, position), buffers };
    }

    async write(buffer, offset, length, position) {
        const bytesWritten = await this.#run("write", buffer, offset, length, position);
        return { bytesWritten, buffer };
    }

    async writev(buffers, position) {
        return { bytesWritten: await this.#run("writev", buffers, position), buffers };
    }

    async readFile(options) {
        return this.#run("readFile", options);
    }

    async writeFile(data, options) {
        await writeWhole(this, data, options);
    }

    async appendFile(data, options) {
        await writeWhole(this, data, options);
    }

    async stat(options) {
        return this.#run("fstat", options);
    }

    async chmod(mode) {
        await this.#run("fchmod", mode);
    }

    async chown() {
        throw core.systemError(-1, "fchown");
    }

    async utimes(atime, mtime) {
        await this.#run("futimes", atime, mtime);
    }

    async truncate(length) {
        await this.#run("ftruncate", length);
    }

    async sync() {
        await this.#run("fsync");
    }

    async datasync() {
        await this.#run("fdatasync");
    }

    createReadStream(options) {
        const { ReadStream } = require("./fs_streams.js");
        const stream = new ReadStream(undefined, { ...toOptions(options, {}), fd: this.#fd });
        return this.#follow(stream, options);
    }

    createWriteStream(options) {
        const { WriteStream } = require("./fs_streams.js");
        const stream = new WriteStream(undefined, { ...toOptions(options, {}), fd: this.#fd });
        return this.#follow(stream, options);
    }

    /* A stream that closes itself has closed the handle. */
    #follow(stream, options) {
        if (options?.autoClose !== false) {
            stream.once("close", () => {
                this.#fd = -1;
                this.emit("close");
            });
        }
        return stream;
    }

    readLines(options) {
        const stream = this.createReadStream({ encoding: "utf8", ...toOptions(options, {}) });
        const lines = linesOf(stream);
        return {
            [Symbol.asyncIterator]: () => lines,
            close: () => stream.destroy(),
        };
    }

    async close() {
        if (this.#fd < 0) {
            return;
        }
        const fd = this.#fd;
        this.#fd = -1;
        await promiseLater(() => operations.close(fd));
        this.emit("close");
    }
}

if (typeof Symbol.asyncDispose === "symbol") {
    FileHandle.prototype[Symbol.asyncDispose] = async function asyncDispose() {
        await this.close();
    };
}

promises.open = async function open(path, flags, mode) {
    return new FileHandle(await promiseLater(() => operations.open(path, flags, mode)));
};

module.exports = promises;
