/* stream.js - the package readable-stream, which is Node's own streams, and bridges to web streams. */
import Stream from "readable-stream/lib/stream.js";

const { Duplex, Readable, Writable } = Stream;

function toWebReadable(readable) {
    return new ReadableStream({
        start(controller) {
            readable.pause();
            readable.on("data", (chunk) => {
                controller.enqueue(chunk instanceof Uint8Array ? new Uint8Array(chunk) : chunk);
                if (controller.desiredSize <= 0) {
                    readable.pause();
                }
            });
            readable.on("end", () => controller.close());
            readable.on("error", (error) => controller.error(error));
        },
        pull() {
            readable.resume();
        },
        cancel(reason) {
            readable.destroy(reason);
        },
    }, { highWaterMark: readable.readableHighWaterMark, size: (chunk) => chunk?.byteLength ?? 1 });
}

function fromWebReadable(stream, options = {}) {
    const reader = stream.getReader();
    return new Readable({
        ...options,
        read() {
            reader.read().then(({ done, value }) => {
                this.push(done ? null : value);
            }, (error) => this.destroy(error));
        },
        destroy(error, callback) {
            reader.cancel(error).then(() => callback(error), () => callback(error));
        },
    });
}

function toWebWritable(writable) {
    return new WritableStream({
        write(chunk) {
            return new Promise((resolve, reject) => {
                writable.write(chunk, (error) => error ? reject(error) : resolve());
            });
        },
        close() {
            return new Promise((resolve, reject) => {
                writable.once("error", reject);
                writable.end(resolve);
            });
        },
        abort(reason) {
            writable.destroy(reason);
        },
    });
}

function fromWebWritable(stream, options = {}) {
    const writer = stream.getWriter();
    return new Writable({
        ...options,
        write(chunk, encoding, callback) {
            writer.write(chunk).then(() => callback(), callback);
        },
        final(callback) {
            writer.close().then(() => callback(), callback);
        },
        destroy(error, callback) {
            const done = () => callback(error);
            if (error) {
                writer.abort(error).then(done, done);
            } else {
                done();
            }
        },
    });
}

Readable.toWeb = toWebReadable;
Readable.fromWeb = fromWebReadable;
Writable.toWeb = toWebWritable;
Writable.fromWeb = fromWebWritable;
Duplex.toWeb = (duplex) => ({ readable: toWebReadable(duplex), writable: toWebWritable(duplex) });
Duplex.fromWeb = ({ readable, writable }, options = {}) => {
    const reader = fromWebReadable(readable, options);
    const writer = fromWebWritable(writable, options);
    return Duplex.from({ readable: reader, writable: writer });
};
Stream.getDefaultHighWaterMark = (isObjectMode) => isObjectMode ? 16 : 65536;
module.exports = Stream;
