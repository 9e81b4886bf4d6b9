/* crypto.js - crypto over @noble/hashes and @noble/ciphers: digests, HMAC, key derivation, AES, random
 * numbers. What needs public keys is missing and says so when it is called. */
import { hmac as nobleHmac } from "@noble/hashes/hmac.js";
import { bytesOf } from "../lib/encodings.js";
import { checkFunction, checkInteger, checkString, invalidArgType, makeError, outOfRange } from "../lib/errors.js";
import { LazyTransform } from "../lib/lazy_transform.js";

const webCrypto = vial.load("web/crypto");

/* The texts with digests, and what each has. */
const COMMON = ["md5", "ripemd160", "rmd160", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256"];
const RARE = ["sha3-224", "sha3-256", "sha3-384", "sha3-512", "shake128", "shake256", "blake2b512", "blake2s256"];
const SYNONYMS = {
    __proto__: null,
    "sha-1": "sha1", "sha-224": "sha224", "sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512",
    "rsa-md5": "md5", "rsa-sha1": "sha1", "rsa-sha256": "sha256", "rsa-sha384": "sha384",
    "rsa-sha512": "sha512", "sha512/224": "sha512-224", "sha512/256": "sha512-256", ssl3: "md5",
};

function findHash(algorithm) {
    const given = algorithm.toLowerCase();
    const name = SYNONYMS[given] ?? given;
    if (COMMON.includes(name)) {
        return vial.load("lib/hash_sha2").hashes[name];
    }
    return RARE.includes(name) ? vial.load("lib/hash_rare").hashes[name] : undefined;
}

function needHash(algorithm, what = "digest") {
    checkString(algorithm, what);
    const hash = findHash(algorithm);
    if (hash === undefined) {
        throw makeError(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
    }
    return hash;
}

function dataBytes(value, name, encoding = undefined) {
    if (typeof value === "string") {
        return Buffer.from(value, encoding === "buffer" ? "utf8" : encoding);
    }
    if (value instanceof KeyObject) {
        return value.export();
    }
    const bytes = bytesOf(value);
    if (bytes === undefined) {
        throw invalidArgType(name, ["string", "Buffer", "TypedArray", "DataView"], value);
    }
    return bytes;
}

function output(bytes, encoding) {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return encoding === undefined || encoding === "buffer" ? buffer : buffer.toString(encoding);
}

/* What a digest and an HMAC have in common: they take data until they are asked. */
class Digester extends LazyTransform {
    #state;
    #isFinished = false;

    constructor(state, options) {
        super(options);
        Object.defineProperty(this, "_state", { value: state, writable: true, configurable: true });
        this.#state = state;
    }

    update(data, encoding = undefined) {
        if (this.#isFinished) {
            throw makeError(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
        }
        this.#state.update(dataBytes(data, "data", encoding));
        return this;
    }

    digest(encoding = undefined) {
        if (this.#isFinished) {
            throw makeError(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
        }
        this.#isFinished = true;
        return output(this.#state.digest(), encoding);
    }

    _transform(chunk, encoding, callback) {
        this.update(chunk, encoding);
        callback();
    }

    _flush(callback) {
        this.push(this.digest());
        callback();
    }
}

class Hash extends Digester {
    constructor(algorithm, options = undefined, state = undefined) {
        checkString(algorithm, "algorithm");
        const hash = findHash(algorithm);
        if (hash === undefined) {
            throw makeError(Error, "ERR_OSSL_EVP_UNSUPPORTED", "Digest method not supported");
        }
        const length = options?.outputLength;
        if (length !== undefined && length !== hash.outputLen && !algorithm.toLowerCase().startsWith("shake")) {
            throw makeError(Error, "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH", "Unsupported state or unable to set outputLength");
        }
        super(state ?? hash.create(length === undefined ? shakeDefault(algorithm) : { dkLen: length }), options);
        Object.defineProperty(this, "_algorithm", { value: algorithm });
    }

    copy(options = undefined) {
        return new Hash(this._algorithm, options, this._state.clone());
    }
}

/* OpenSSL's default lengths, which are not those of the standard. */
function shakeDefault(algorithm) {
    const name = algorithm.toLowerCase();
    return name === "shake128" ? { dkLen: 16 } : name === "shake256" ? { dkLen: 32 } : undefined;
}

class Hmac extends Digester {
    constructor(algorithm, key, options = undefined) {
        checkString(algorithm, "hmac");
        const hash = findHash(algorithm);
        if (hash === undefined) {
            throw makeError(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
        }
        super(nobleHmac.create(hash, dataBytes(key, "key", options?.encoding)), options);
    }
}

/* ---- random numbers ---- */

const SIZE_MAX = 2147483647;

function randomBytes(size, callback = undefined) {
    checkInteger(size, "size", 0, SIZE_MAX);
    const bytes = Buffer.alloc(size);
    if (callback === undefined) {
        return webCrypto.fillRandom(bytes);
    }
    checkFunction(callback, "callback");
    setImmediate(() => callback(null, webCrypto.fillRandom(bytes)));
    return undefined;
}

function randomFillSync(target, offset = 0, size = undefined) {
    const bytes = bytesOf(target);
    if (bytes === undefined) {
        throw invalidArgType("buf", ["ArrayBuffer", "ArrayBufferView"], target);
    }
    const width = target.BYTES_PER_ELEMENT ?? 1;
    checkInteger(offset, "offset", 0, bytes.length / width);
    const count = size === undefined ? bytes.length - offset * width : size * width;
    if (offset * width + count > bytes.length) {
        throw outOfRange("size + offset", `<= ${bytes.length}`, offset * width + count);
    }
    webCrypto.fillRandom(bytes.subarray(offset * width, offset * width + count));
    return target;
}

function randomFill(target, ...rest) {
    const callback = rest.pop();
    checkFunction(callback, "callback");
    randomFillSync(target, ...rest);
    setImmediate(() => callback(null, target));
}

const RANDOM_RANGE_MAX = 2 ** 48 - 1;

/* Numbers that would make some results likelier are thrown away. */
function drawInt(range) {
    const limit = 2 ** 48 - 2 ** 48 % range;
    for (;;) {
        const number = randomBytes(6).readUIntBE(0, 6);
        if (number < limit) {
            return number % range;
        }
    }
}

function randomInt(min, max = undefined, callback = undefined) {
    if (max === undefined || typeof max === "function") {
        return randomInt(0, min, max);
    }
    for (const [value, name] of [[min, "min"], [max, "max"]]) {
        if (!Number.isSafeInteger(value)) {
            throw invalidArgType(name, "a safe integer", value);
        }
    }
    if (max <= min) {
        throw outOfRange("max", `greater than the value of "min" (${min})`, max);
    }
    if (max - min > RANDOM_RANGE_MAX) {
        throw outOfRange("max - min", `<= ${RANDOM_RANGE_MAX}`, max - min);
    }
    const number = min + drawInt(max - min);
    if (callback === undefined) {
        return number;
    }
    checkFunction(callback, "callback");
    process.nextTick(callback, undefined, number);
    return undefined;
}

/* ---- keys from passwords ---- */

/* The slow part runs before the callback is due: there is no other thread to run it in. */
function withCallback(compute) {
    return (...args) => {
        const callback = args.pop();
        checkFunction(callback, "callback");
        setImmediate(() => {
            let result;
            try {
                result = compute(...args);
            } catch (error) {
                callback(error);
                return;
            }
            callback(null, result);
        });
    };
}

function pbkdf2Sync(password, salt, iterations, length, digest) {
    checkInteger(iterations, "iterations", 1, SIZE_MAX);
    checkInteger(length, "keylen", 0, SIZE_MAX);
    const hash = needHash(digest);
    return length === 0 ? Buffer.alloc(0) : output(vial.load("lib/kdf").pbkdf2(hash, dataBytes(password, "password"),
        dataBytes(salt, "salt"), { c: iterations, dkLen: length }));
}

function scryptSync(password, salt, length, options = {}) {
    checkInteger(length, "keylen", 0, SIZE_MAX);
    const cost = options?.N ?? options?.cost ?? 16384;
    const blockSize = options?.r ?? options?.blockSize ?? 8;
    const parallel = options?.p ?? options?.parallelization ?? 1;
    const memory = options?.maxmem ?? 32 * 1024 * 1024;
    if (cost < 2 || (cost & cost - 1) !== 0 || 128 * cost * blockSize > memory) {
        throw makeError(RangeError, "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", 128 * cost * blockSize > memory
            ? "Invalid scrypt params: memory limit exceeded" : "Invalid scrypt params");
    }
    return length === 0 ? Buffer.alloc(0) : output(vial.load("lib/kdf").scrypt(dataBytes(password, "password"),
        dataBytes(salt, "salt"), { N: cost, r: blockSize, p: parallel, dkLen: length,
            maxmem: memory + 1024 * 1024 }));
}

function hkdfSync(digest, key, salt, info, length) {
    const hash = needHash(digest);
    checkInteger(length, "length", 0, SIZE_MAX);
    if (length > 255 * hash.outputLen) {
        throw makeError(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
    }
    return vial.load("lib/kdf").hkdf(hash, dataBytes(key, "ikm"), dataBytes(salt, "salt"), dataBytes(info, "info"), length)
        .slice().buffer;
}

/* ---- the rest ---- */

let secretOf;

class KeyObject {
    #secret;

    constructor(type, secret) {
        if (type !== "secret") {
            throw new Error("crypto.KeyObject for public keys is not available in vial");
        }
        this.#secret = secret;
    }

    get type() {
        return "secret";
    }

    get symmetricKeySize() {
        return this.#secret.length;
    }

    export(options = {}) {
        return options?.format === "jwk"
            ? { kty: "oct", k: Buffer.from(this.#secret).toString("base64url") } : Buffer.from(this.#secret);
    }

    equals(other) {
        return other instanceof KeyObject && Buffer.compare(this.#secret, secretOf(other)) === 0;
    }

    static {
        secretOf = (key) => key.#secret;
    }
}

function timingSafeEqual(a, b) {
    const left = bytesOf(a);
    const right = bytesOf(b);
    if (left === undefined || right === undefined) {
        throw invalidArgType(left === undefined ? "buf1" : "buf2", ["ArrayBuffer", "Buffer", "TypedArray",
            "DataView"], left === undefined ? a : b);
    }
    if (left.length !== right.length) {
        throw makeError(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH",
            "Input buffers must have the same byte length");
    }
    let difference = 0;
    for (let i = 0; i < left.length; i++) {
        difference |= left[i] ^ right[i];
    }
    return difference === 0;
}

function lazyCipher(name) {
    return (...args) => new (vial.load("lib/cipher")[name])(...args);
}

const crypto = {
    Hash, Hmac, KeyObject,
    createHash: (algorithm, options) => new Hash(algorithm, options),
    createHmac: (algorithm, key, options) => new Hmac(algorithm, key, options),
    createSecretKey: (key, encoding) => new KeyObject("secret", Buffer.from(dataBytes(key, "key", encoding))),
    createCipheriv: lazyCipher("Cipheriv"), createDecipheriv: lazyCipher("Decipheriv"),
    getCiphers: () => [...vial.load("lib/cipher").NAMES],
    getHashes: () => [...COMMON.filter((name) => name !== "rmd160"), ...RARE],
    getCurves: () => [],
    getFips: () => 0,
    getRandomValues: (array) => webCrypto.crypto.getRandomValues(array),
    hash: (algorithm, data, encoding = "hex") => new Hash(algorithm).update(data).digest(encoding),
    hkdf: withCallback(hkdfSync), hkdfSync,
    pbkdf2: withCallback(pbkdf2Sync), pbkdf2Sync,
    randomBytes, pseudoRandomBytes: randomBytes, randomFill, randomFillSync, randomInt,
    randomUUID: () => webCrypto.crypto.randomUUID(),
    scrypt: withCallback(scryptSync), scryptSync,
    timingSafeEqual,
    webcrypto: webCrypto.crypto,
    constants: {},
};
Object.defineProperty(crypto, "subtle", { get: () => webCrypto.crypto.subtle, enumerable: true,
    configurable: true });

for (const name of ["createSign", "createVerify", "sign", "verify", "createDiffieHellman",
    "createDiffieHellmanGroup", "getDiffieHellman", "diffieHellman", "createECDH", "createPrivateKey",
    "createPublicKey", "generateKeyPair", "generateKeyPairSync", "generateKey", "generateKeySync",
    "publicEncrypt", "publicDecrypt", "privateEncrypt", "privateDecrypt", "checkPrime", "checkPrimeSync",
    "generatePrime", "generatePrimeSync", "getCipherInfo", "setEngine", "setFips", "secureHeapUsed",
    "Certificate", "ECDH", "DiffieHellman", "Sign", "Verify", "X509Certificate"]) {
    crypto[name] = { [name]() {
        throw new Error(`crypto.${name} is not available in vial: there are digests, HMAC, AES, pbkdf2, scrypt, ` +
            "hkdf and random numbers; do it in a host function and pass the result in");
    } }[name];
}
module.exports = crypto;
