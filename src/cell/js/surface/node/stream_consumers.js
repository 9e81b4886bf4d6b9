/* stream_consumers.js - stream/consumers: all of a stream at once. */
const { Blob, Buffer } = vial.g;

async function buffer(stream) {
    const pieces = [];
    for await (const piece of stream) {
        pieces.push(typeof piece === "string" ? Buffer.from(piece) : Buffer.from(piece.buffer ?? piece,
            piece.byteOffset, piece.byteLength));
    }
    return Buffer.concat(pieces);
}

async function text(stream) {
    return (await buffer(stream)).toString();
}

async function json(stream) {
    return JSON.parse(await text(stream));
}

async function arrayBuffer(stream) {
    const bytes = await buffer(stream);
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

async function blob(stream) {
    return new Blob([await buffer(stream)]);
}

module.exports = { arrayBuffer, blob, buffer, json, text };
