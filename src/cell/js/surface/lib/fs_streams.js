/* fs_streams.js - files as streams. */
"use strict";

const { Buffer } = require("buffer");
const { Readable, Writable } = require("stream");
const {
    argumentType, outOfRange, operations, toPath, toOptions, CHUNK_BYTES,
} = require("./fs_core.js");
const { callLater } = require("./fs_later.js");

function requirePosition(value, name) {
    if (value === undefined) {
        return undefined;
    }
    if (typeof value !== "number") {
        throw argumentType(name, "of type number", value);
    }
    if (!Number.isInteger(value)) {
        throw outOfRange(name, "an integer", value);
    }
    if (value < 0) {
        throw outOfRange(name, ">= 0 && <= 9007199254740991", value);
    }
    return value;
}

/* What both kinds have: an open file, sometimes one that somebody else opened. */
function initialise(stream, path, options, flags) {
    const given = options.fd ?? null;
    stream.fd = typeof given === "object" && given !== null ? given.fd : given;
    stream.path = stream.fd === null ? toPath(path) : undefined;
    stream.flags = options.flags ?? flags;
    stream.mode = options.mode ?? 0o666;
    stream.pending = stream.fd === null;
    stream.autoClose = options.autoClose ?? true;
}

function construct(stream, callback) {
    if (stream.fd !== null) {
        callback();
        return;
    }
    callLater((error, fd) => {
        if (error) {
            callback(error);
            return;
        }
        stream.fd = fd;
        stream.pending = false;
        callback();
        stream.emit("open", fd);
        stream.emit("ready");
    }, () => operations.open(stream.path, stream.flags, stream.mode));
}

function destroy(stream, error, callback) {
    if (stream.fd === null || !stream.autoClose) {
        callback(error);
        return;
    }
    const { fd } = stream;
    stream.fd = null;
    callLater((failed) => callback(error ?? failed), () => operations.close(fd));
}

class ReadStream extends Readable {
    constructor(path, options) {
        options = toOptions(options, {});
        const start = requirePosition(options.start, "start");
        const end = options.end === Infinity ? undefined : requirePosition(options.end, "end");
        if (start !== undefined && end !== undefined && start > end) {
            throw outOfRange("start", `<= "end" (here: ${end})`, start);
        }
        super({
            highWaterMark: options.highWaterMark ?? CHUNK_BYTES,
            encoding: options.encoding ?? undefined,
            objectMode: false,
            autoDestroy: options.autoClose ?? true,
            emitClose: options.emitClose ?? true,
            signal: options.signal,
        });
        initialise(this, path, options, "r");
        this.start = start;
        this.end = end ?? Infinity;
        this.pos = start;
        this.bytesRead = 0;
        if (this.path === undefined || this.fd !== null) {
            this.pending = false;
        }
    }

    _construct(callback) {
        construct(this, callback);
    }

    _read(size) {
        const room = Math.min(size, CHUNK_BYTES, this.end - (this.pos ?? this.bytesRead) + 1);
        if (room <= 0) {
            this.push(null);
            return;
        }
        const buffer = Buffer.allocUnsafe(room);
        callLater((error, count = 0) => {
            if (error) {
                this.destroy(error);
                return;
            }
            this.bytesRead += count;
            if (this.pos !== undefined) {
                this.pos += count;
            }
            this.push(count === 0 ? null : buffer.subarray(0, count));
        }, () => operations.read(this.fd, buffer, 0, room, this.pos ?? null));
    }

    _destroy(error, callback) {
        destroy(this, error, callback);
    }

    close(callback) {
        if (typeof callback === "function") {
            if (this.closed) {
                callback();
            } else {
                this.once("close", callback);
            }
        }
        this.destroy();
    }
}

class WriteStream extends Writable {
    constructor(path, options) {
        options = toOptions(options, {});
        const start = requirePosition(options.start, "start");
        super({
            highWaterMark: options.highWaterMark ?? 16384,
            decodeStrings: true,
            defaultEncoding: options.encoding ?? "utf8",
            autoDestroy: options.autoClose ?? true,
            emitClose: options.emitClose ?? true,
            signal: options.signal,
        });
        initialise(this, path, options, "w");
        this.start = start;
        this.pos = start;
        this.bytesWritten = 0;
    }

    _construct(callback) {
        construct(this, callback);
    }

    #put(chunk) {
        let done = 0;
        while (done < chunk.length) {
            const count = operations.write(this.fd, chunk, done, chunk.length - done,
                this.pos ?? null);
            done += count;
            this.bytesWritten += count;
            if (this.pos !== undefined) {
                this.pos += count;
            }
        }
    }

    _write(chunk, encoding, callback) {
        callLater((error) => callback(error), () => this.#put(chunk));
    }

    _writev(chunks, callback) {
        callLater((error) => callback(error), () => {
            for (const { chunk } of chunks) {
                this.#put(chunk);
            }
        });
    }

    _destroy(error, callback) {
        destroy(this, error, callback);
    }

    close(callback) {
        if (typeof callback === "function") {
            if (this.closed) {
                callback();
                return;
            }
            this.once("close", callback);
        }
        this.end();
    }

    destroySoon() {
        this.end();
    }
}

/* Both can be called without `new`, as in old programs. */
function callable(Class) {
    return new Proxy(Class, {
        apply: (target, self, args) => Reflect.construct(target, args),
    });
}

module.exports = { ReadStream: callable(ReadStream), WriteStream: callable(WriteStream) };
