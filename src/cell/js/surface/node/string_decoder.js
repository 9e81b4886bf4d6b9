/* string_decoder.js - the package string_decoder, with base64url. */
import { StringDecoder as PackageDecoder } from "package-string_decoder";
import { makeError } from "../lib/errors.js";

class StringDecoder extends PackageDecoder {
    #isUrl;

    constructor(encoding = "utf8") {
        if (!Buffer.isEncoding(encoding)) {
            throw makeError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
        }
        const isUrl = `${encoding}`.toLowerCase() === "base64url";
        super(isUrl ? "base64" : encoding);
        this.#isUrl = isUrl;
        this.encoding = isUrl ? "base64url" : this.encoding;
    }

    write(chunk) {
        return this.#shown(super.write(typeof chunk === "string" ? chunk : Buffer.from(chunk.buffer,
            chunk.byteOffset, chunk.byteLength)));
    }

    end(chunk = undefined) {
        return this.#shown(chunk === undefined ? super.end() : super.end(chunk));
    }

    #shown(text) {
        return this.#isUrl ? text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "") : text;
    }
}

module.exports = { StringDecoder };
