/* cipher.js - createCipheriv and createDecipheriv for AES in the modes CBC, CTR, ECB and GCM, in pieces. */
import { cbc, ctr, ecb, gcm } from "@noble/ciphers/aes.js";
import { bytesOf } from "./encodings.js";
import { invalidArgType, makeError } from "./errors.js";
import { LazyTransform } from "./lazy_transform.js";

const { StringDecoder } = vial.require("string_decoder");
const BLOCK = 16;
const NOTHING = new Uint8Array(0);

export const NAMES = [128, 192, 256].flatMap((bits) => ["cbc", "ctr", "ecb", "gcm"]
    .map((mode) => `aes-${bits}-${mode}`));

function bytes(value, name, encoding = undefined) {
    if (typeof value === "string") {
        return Buffer.from(value, encoding);
    }
    const view = bytesOf(typeof value?.export === "function" ? value.export() : value);
    if (view === undefined) {
        throw invalidArgType(name, ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView"], value);
    }
    return view;
}

function concatenate(a, b) {
    const joined = new Uint8Array(a.length + b.length);
    joined.set(a);
    joined.set(b, a.length);
    return joined;
}

/* The counter block that lies a number of blocks after another; GCM counts in its last 32 bits only. */
function counterAfter(counter, blocks, bits) {
    const all = BigInt(`0x${counter.toHex()}`);
    const room = 1n << BigInt(bits);
    const next = all - all % room + (all % room + BigInt(blocks)) % room;
    return Uint8Array.fromHex(next.toString(16).padStart(32, "0"));
}

/* A stream of key bytes that data is mixed with, at any length. */
class CounterMode {
    constructor(key, counter, bits) {
        Object.assign(this, { key, counter, bits, used: 0, blocks: 0 });
    }

    update(data) {
        const padded = concatenate(new Uint8Array(this.used), data);
        const start = counterAfter(this.counter, this.blocks, this.bits);
        const mixed = ctr(this.key, start).encrypt(padded).subarray(this.used);
        this.blocks += Math.floor(padded.length / BLOCK);
        this.used = padded.length % BLOCK;
        return mixed;
    }

    final() {
        return NOTHING;
    }
}

/* Whole blocks go through as they come. The last one waits for the padding, or may be it. */
class BlockMode {
    constructor(mode, key, iv, isEncrypting) {
        Object.assign(this, { mode, key, iv, isEncrypting, rest: NOTHING, isPadded: true });
    }

    cipher(isLast) {
        const options = { disablePadding: !(isLast && this.isPadded) };
        return this.mode === "cbc" ? cbc(this.key, this.iv, options) : ecb(this.key, options);
    }

    update(data) {
        const all = concatenate(this.rest, data);
        let count = all.length - all.length % BLOCK;
        if (!this.isEncrypting && this.isPadded && count === all.length && count > 0) {
            count -= BLOCK;
        }
        this.rest = all.slice(count);
        if (count === 0) {
            return NOTHING;
        }
        const input = all.slice(0, count);
        const result = this.cipher(false)[this.isEncrypting ? "encrypt" : "decrypt"](input);
        this.iv = (this.isEncrypting ? result : input).slice(-BLOCK);
        return result;
    }

    final() {
        if (!this.isPadded && this.rest.length === 0) {
            return NOTHING;
        }
        try {
            return this.cipher(true)[this.isEncrypting ? "encrypt" : "decrypt"](this.rest);
        } catch {
            const isShort = this.rest.length % BLOCK !== 0 || this.rest.length === 0;
            throw isShort ? makeError(Error, "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH", "wrong final block length")
                : makeError(Error, "ERR_OSSL_BAD_DECRYPT", "bad decrypt");
        }
    }
}

/* Data goes through a counter; the tag is made of all of it at the end. */
class GcmMode {
    constructor(key, iv, isEncrypting) {
        if (iv.length !== 12) {
            throw makeError(Error, "ERR_CRYPTO_INVALID_IV", "aes-gcm in vial takes an iv of 12 bytes");
        }
        const counter = concatenate(iv, new Uint8Array([0, 0, 0, 2]));
        Object.assign(this, { key, iv, isEncrypting, stream: new CounterMode(key, counter, 32), seen: [],
            extra: NOTHING, tag: undefined });
    }

    update(data) {
        this.seen.push(data.slice());
        return this.stream.update(data);
    }

    final() {
        const all = new Uint8Array(Buffer.concat(this.seen));
        const cipher = gcm(this.key, this.iv, this.extra);
        if (this.isEncrypting) {
            this.tag = cipher.encrypt(all).slice(-BLOCK);
            return NOTHING;
        }
        try {
            cipher.decrypt(concatenate(all, this.tag));
        } catch {
            throw new Error("Unsupported state or unable to authenticate data");
        }
        return NOTHING;
    }
}

function makeMode(algorithm, key, iv, isEncrypting) {
    const name = `${algorithm}`.toLowerCase();
    if (!NAMES.includes(name)) {
        throw makeError(Error, "ERR_CRYPTO_UNKNOWN_CIPHER", `Unknown cipher: vial has ${NAMES.join(", ")}`);
    }
    const [, bits, mode] = name.split("-");
    if (key.length * 8 !== Number(bits)) {
        throw makeError(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
    }
    if ((mode === "cbc" || mode === "ctr") && iv.length !== BLOCK || mode === "ecb" && iv.length !== 0) {
        throw makeError(TypeError, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
    }
    switch (mode) {
    case "ctr":
        return new CounterMode(key, iv, 128);
    case "gcm":
        return new GcmMode(key, iv, isEncrypting);
    default:
        return new BlockMode(mode, key, iv, isEncrypting);
    }
}

class CipherStream extends LazyTransform {
    #mode;
    #isFinished = false;
    #decoder;
    #tagGiven = false;

    constructor(algorithm, key, iv, options, isEncrypting) {
        super(options);
        this.#mode = makeMode(algorithm, bytes(key, "key").slice(), iv === null ? NOTHING : bytes(iv, "iv").slice(),
            isEncrypting);
    }

    #shown(result, encoding, isLast) {
        const buffer = Buffer.from(result.buffer, result.byteOffset, result.length);
        if (encoding === undefined || encoding === null || encoding === "buffer") {
            return buffer;
        }
        this.#decoder ??= new StringDecoder(encoding);
        return isLast ? this.#decoder.end(buffer) : this.#decoder.write(buffer);
    }

    update(data, inputEncoding = undefined, outputEncoding = undefined) {
        if (this.#isFinished) {
            throw makeError(Error, "ERR_CRYPTO_INVALID_STATE", "Trying to add data in unsupported state");
        }
        return this.#shown(this.#mode.update(bytes(data, "data", inputEncoding)), outputEncoding, false);
    }

    final(outputEncoding = undefined) {
        if (this.#isFinished) {
            throw makeError(Error, "ERR_CRYPTO_INVALID_STATE", "Unsupported state");
        }
        this.#isFinished = true;
        if (this.#mode instanceof GcmMode && !this.#mode.isEncrypting && !this.#tagGiven) {
            throw new Error("Unsupported state or unable to authenticate data");
        }
        return this.#shown(this.#mode.final(), outputEncoding, true);
    }

    setAutoPadding(isPadded = true) {
        this.#mode.isPadded = Boolean(isPadded);
        return this;
    }

    setAAD(data) {
        this.#mode.extra = concatenate(this.#mode.extra ?? NOTHING, bytes(data, "buffer"));
        return this;
    }

    getAuthTag() {
        if (this.#mode.tag === undefined) {
            throw makeError(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation getAuthTag");
        }
        return Buffer.from(this.#mode.tag);
    }

    setAuthTag(tag, encoding = undefined) {
        const value = bytes(tag, "buffer", encoding).slice();
        if (value.length !== BLOCK) {
            throw makeError(TypeError, "ERR_CRYPTO_INVALID_AUTH_TAG",
                `Invalid authentication tag length: ${value.length}`);
        }
        this.#tagGiven = true;
        this.#mode.tag = value;
        return this;
    }

    _transform(chunk, encoding, callback) {
        this.push(this.update(chunk));
        callback();
    }

    _flush(callback) {
        try {
            this.push(this.final());
        } catch (error) {
            callback(error);
            return;
        }
        callback();
    }
}

export class Cipheriv extends CipherStream {
    constructor(algorithm, key, iv, options = undefined) {
        super(algorithm, key, iv, options, true);
    }
}

export class Decipheriv extends CipherStream {
    constructor(algorithm, key, iv, options = undefined) {
        super(algorithm, key, iv, options, false);
    }
}
