/* zlib.js - pako, which is zlib itself in JavaScript, as a worker that is pushed pieces and calls back with
 * pieces. A text of its own: zlib and the web's CompressionStream share it. */
import { Deflate, Inflate } from "pako";
import { makeError } from "./errors.js";
import { constants } from "./zlib_constants.js";

const KINDS = {
    __proto__: null,
    gzip: [Deflate, { gzip: true }], deflate: [Deflate, {}], deflateRaw: [Deflate, { raw: true }],
    gunzip: [Inflate, { windowBits: 31 }], inflate: [Inflate, { windowBits: 15 }],
    inflateRaw: [Inflate, { raw: true }], unzip: [Inflate, { windowBits: 47 }],
};
const NAMES = Object.fromEntries(Object.entries(constants).filter(([name, value]) => value < 0 &&
    name.startsWith("Z_")).map(([name, value]) => [value, name]));

function zlibError(code, message) {
    const error = makeError(Error, NAMES[code] ?? "Z_ERRNO", message);
    error.errno = code;
    return error;
}

/* What zlib says, where pako only has a number. */
function reasonOf(stream) {
    const text = stream.msg || stream.strm?.msg;
    if (text && !/^(?:data|stream|buffer) error$/.test(text)) {
        return text;
    }
    return stream.err === constants.Z_NEED_DICT ? "Missing dictionary" : "incorrect header check";
}

export function makeWorker(kind, options, onPiece) {
    const [Class, fixed] = KINDS[kind];
    const { level, memLevel, strategy, dictionary, chunkSize, windowBits } = options;
    const given = Object.fromEntries(Object.entries({ level, memLevel, strategy, dictionary, chunkSize })
        .filter(([, value]) => value !== undefined));
    const stream = new Class({ ...given, ...windowBits !== undefined && Class === Deflate ? { windowBits } : {},
        ...fixed });
    let isOver = false;
    stream.onData = onPiece;
    stream.onEnd = (status) => {
        isOver = isOver || status === constants.Z_OK;
    };
    return {
        /* mode is false, true for the end, or a number of a flush. */
        push(bytes, mode) {
            if (isOver) {
                return;
            }
            stream.push(bytes, mode);
            if (stream.err < 0 && stream.err !== constants.Z_BUF_ERROR || stream.err === constants.Z_NEED_DICT) {
                throw zlibError(stream.err === constants.Z_NEED_DICT ? constants.Z_NEED_DICT : stream.err,
                    reasonOf(stream));
            }
            if (stream.err === constants.Z_BUF_ERROR && Class === Inflate) {
                throw zlibError(constants.Z_BUF_ERROR, "unexpected end of file");
            }
        },
    };
}
