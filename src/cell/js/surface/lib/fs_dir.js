/* fs_dir.js - open directories. The entries are read when the directory is opened: nobody but the
 * program itself can change it, and a list costs less than an open descriptor. */
"use strict";

const { Dirent, toPath, withCode, listDirectory } = require("./fs_core.js");
const { callLater, promiseLater } = require("./fs_later.js");

class Dir {
    #entries;
    #next = 0;
    #isClosed = false;

    constructor(path, entries) {
        this.path = path;
        this.#entries = entries;
    }

    #requireOpen() {
        if (this.#isClosed) {
            throw withCode(new Error("Directory handle was closed"), "ERR_DIR_CLOSED");
        }
    }

    readSync() {
        this.#requireOpen();
        if (this.#next >= this.#entries.length) {
            return null;
        }
        const [name, type] = this.#entries[this.#next++];
        return new Dirent(name, this.path, type);
    }

    read(callback) {
        if (callback === undefined) {
            return promiseLater(() => this.readSync());
        }
        this.#requireOpen();
        callLater(callback, () => this.readSync());
        return undefined;
    }

    closeSync() {
        this.#requireOpen();
        this.#isClosed = true;
    }

    close(callback) {
        if (callback === undefined) {
            return promiseLater(() => this.closeSync());
        }
        this.#requireOpen();
        callLater(callback, () => this.closeSync());
        return undefined;
    }

    async* entries() {
        try {
            for (;;) {
                const entry = await this.read();
                if (entry === null) {
                    return;
                }
                yield entry;
            }
        } finally {
            await this.close();
        }
    }

    [Symbol.asyncIterator]() {
        return this.entries();
    }
}

if (typeof Symbol.asyncDispose === "symbol") {
    Dir.prototype[Symbol.asyncDispose] = async function asyncDispose() {
        await this.close();
    };
}

function openDirectory(path, options) {
    path = toPath(path);
    const entries = listDirectory(path, "opendir");
    if (options?.recursive) {
        const all = [];
        const pending = entries.map(([name, type]) => [name, type]);
        while (pending.length > 0) {
            const [name, type] = pending.shift();
            all.push([name, type]);
            if (type === 2) {
                for (const [below, kind] of listDirectory(`${path}/${name}`)) {
                    pending.push([`${name}/${below}`, kind]);
                }
            }
        }
        return new Dir(path, all);
    }
    return new Dir(path, entries);
}

module.exports = { Dir, openDirectory };
