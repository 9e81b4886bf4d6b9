/* subtle.js - crypto.subtle over @noble/hashes and @noble/ciphers: digests, HMAC, AES and key
 * derivation. What needs public keys is missing and says so. */
import { cbc, ctr, gcm } from "@noble/ciphers/aes.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { pbkdf2Async } from "@noble/hashes/pbkdf2.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { bytesOf } from "../lib/encodings.js";
import { invalidArgType } from "../lib/errors.js";
import { fromBase64url, toBase64url } from "../lib/jwk.js";

const KEY = Symbol("subtle");
const HASHES = { __proto__: null, "SHA-1": sha1, "SHA-256": sha256, "SHA-384": sha384,
    "SHA-512": sha512 };
const AES = ["AES-GCM", "AES-CBC", "AES-CTR"];
const KNOWN = ["SHA-1", "SHA-256", "SHA-384", "SHA-512", "HMAC", "PBKDF2", "HKDF", ...AES];
const USAGES = {
    __proto__: null,
    HMAC: ["sign", "verify"], PBKDF2: ["deriveKey", "deriveBits"],
    HKDF: ["deriveKey", "deriveBits"],
};
const AES_USAGES = ["encrypt", "decrypt", "wrapKey", "unwrapKey"];

/* A derivation that takes longer than any run may is a mistake. */
const ITERATIONS_MAX = 1e8;

function fail(name, message) {
    throw new DOMException(message, name);
}

function bytes(value, what) {
    const view = bytesOf(value);
    if (view === undefined) {
        throw invalidArgType(what, ["ArrayBuffer", "Buffer", "TypedArray", "DataView"], value);
    }
    return view;
}

/* The parameters with their algorithm's name as the standard spells it. */
function normal(algorithm) {
    const given = typeof algorithm === "string" ? { name: algorithm } : algorithm;
    const text = `${given?.name}`;
    const name = KNOWN.find((known) => known.toUpperCase() === text.toUpperCase());
    if (name === undefined) {
        fail("NotSupportedError", `Unrecognized algorithm name: ${text} is not available in vial; ` +
            `there are ${KNOWN.join(", ")}`);
    }
    return { ...given, name };
}

function hashOf(algorithm) {
    const { name } = normal(algorithm);
    if (HASHES[name] === undefined) {
        fail("NotSupportedError", `${name} is no digest`);
    }
    return { name, digest: HASHES[name] };
}

let secretOf;

export class CryptoKey {
    #secret;

    constructor(key, secret, algorithm, extractable, usages) {
        if (key !== KEY) {
            throw new TypeError("Illegal constructor");
        }
        this.#secret = secret;
        for (const [name, value] of Object.entries({ type: "secret", extractable, algorithm, usages })) {
            Object.defineProperty(this, name, { value, enumerable: true });
        }
    }

    get [Symbol.toStringTag]() {
        return "CryptoKey";
    }

    static {
        secretOf = (key) => {
            if (!(key instanceof CryptoKey)) {
                throw new TypeError("The key must be a CryptoKey");
            }
            return key.#secret;
        };
    }
}

function checkKey(key, name, usage) {
    const secret = secretOf(key);
    if (key.algorithm.name !== name) {
        fail("InvalidAccessError", `Key algorithm mismatch: the key is for ${key.algorithm.name}`);
    }
    if (!key.usages.includes(usage)) {
        fail("InvalidAccessError", `Unable to use this key to ${usage}`);
    }
    return secret;
}

function checkUsages(name, usages) {
    const list = [...usages].map(String);
    const allowed = USAGES[name] ?? AES_USAGES;
    if (list.some((usage) => !allowed.includes(usage))) {
        fail("SyntaxError", `Unsupported key usage for ${name === "HMAC" ? "an HMAC" : `a ${name}`} key`);
    }
    return [...new Set(list)];
}

function makeKey(secret, params, extractable, usages) {
    const { name } = params;
    const list = checkUsages(name, usages);
    if (list.length === 0) {
        fail("SyntaxError", "Usages cannot be empty when creating a key.");
    }
    if (name === "HMAC") {
        const hash = hashOf(params.hash);
        return new CryptoKey(KEY, secret, { name, length: secret.length * 8,
            hash: { name: hash.name } }, Boolean(extractable), list);
    }
    if (AES.includes(name)) {
        if (![16, 24, 32].includes(secret.length)) {
            fail("DataError", "Invalid key length");
        }
        return new CryptoKey(KEY, secret, { name, length: secret.length * 8 },
            Boolean(extractable), list);
    }
    if (extractable) {
        fail("SyntaxError", `${name} keys are not extractable`);
    }
    return new CryptoKey(KEY, secret, { name }, false, list);
}

function keyLength(params) {
    if (params.name === "HMAC") {
        const hash = hashOf(params.hash);
        return params.length === undefined ? hash.digest.blockLen * 8 : params.length;
    }
    if (![128, 192, 256].includes(params.length)) {
        fail("OperationError", "Invalid key length");
    }
    return params.length;
}

function jwkAlgorithm({ name, length, hash }) {
    return name === "HMAC" ? `HS${hash.name.slice(4)}` : `A${length}${name.slice(4)}`;
}

function importJwk(jwk, extractable) {
    if (jwk === null || typeof jwk !== "object" || jwk.kty !== "oct" || typeof jwk.k !== "string") {
        fail("DataError", "Invalid keyData");
    }
    if (jwk.ext === false && extractable) {
        fail("DataError", "JWK \"ext\" Parameter and extractable mismatch");
    }
    return fromBase64url(jwk.k);
}

function aesCipher(params, secret) {
    if (params.name === "AES-GCM") {
        const bits = params.tagLength ?? 128;
        if (bits !== 128) {
            fail("NotSupportedError", `a tagLength of ${bits} is not available in vial; use 128`);
        }
        const extra = params.additionalData === undefined ? undefined
            : bytes(params.additionalData, "algorithm.additionalData");
        return gcm(secret, bytes(params.iv, "algorithm.iv").slice(), extra);
    }
    if (params.name === "AES-CBC") {
        const iv = bytes(params.iv, "algorithm.iv").slice();
        return iv.length === 16 ? cbc(secret, iv)
            : fail("OperationError", "algorithm.iv must contain exactly 16 bytes");
    }
    const counter = bytes(params.counter, "algorithm.counter").slice();
    if (counter.length !== 16 || !(params.length >= 1 && params.length <= 128)) {
        fail("OperationError", "algorithm.counter must have 16 bytes, length be 1 to 128 bits");
    }
    return ctr(secret, counter);
}

/* The counter is the last `length` bits; the cipher would carry beyond them. */
function checkCounter(params, size) {
    if (params.name !== "AES-CTR") {
        return;
    }
    const counter = BigInt(`0x${bytes(params.counter, "algorithm.counter").toHex()}`);
    const room = 1n << BigInt(params.length);
    if (counter % room + BigInt(Math.ceil(size / 16)) > room) {
        fail("OperationError", "the counter would wrap around, which is not available in vial");
    }
}

function crypt(direction, algorithm, key, data) {
    const params = normal(algorithm);
    if (!AES.includes(params.name)) {
        fail("NotSupportedError", `${params.name} does not ${direction}`);
    }
    const secret = checkKey(key, params.name, direction);
    const input = bytes(data, "data").slice();
    try {
        const cipher = aesCipher(params, secret);
        checkCounter(params, input.length);
        return cipher[direction](input).slice().buffer;
    } catch (error) {
        if (error instanceof DOMException || error instanceof TypeError && direction === "encrypt") {
            throw error;
        }
        throw new DOMException("The operation failed for an operation-specific reason",
            { name: "OperationError", cause: error });
    }
}

async function derive(algorithm, key, length, usage) {
    const params = normal(algorithm);
    const secret = checkKey(key, params.name, usage);
    if (length === null || length === undefined || length % 8 !== 0) {
        fail("OperationError", "length must be a multiple of 8");
    }
    const { digest } = hashOf(params.hash);
    const salt = bytes(params.salt, "algorithm.salt").slice();
    if (params.name === "PBKDF2") {
        if (!(params.iterations >= 1 && params.iterations <= ITERATIONS_MAX)) {
            fail("OperationError", "iterations must be at least 1");
        }
        return pbkdf2Async(digest, secret, salt, { c: params.iterations, dkLen: length / 8 });
    }
    if (params.name === "HKDF") {
        return hkdf(digest, secret, salt, bytes(params.info, "algorithm.info").slice(), length / 8);
    }
    return fail("NotSupportedError", `${params.name} derives no keys`);
}

function isEqual(a, b) {
    let difference = a.length ^ b.length;
    for (let i = 0; i < a.length; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference === 0;
}

export class SubtleCrypto {
    constructor(key) {
        if (key !== KEY) {
            throw new TypeError("Illegal constructor");
        }
    }

    async digest(algorithm, data) {
        const { digest } = hashOf(algorithm);
        return digest(bytes(data, "data")).slice().buffer;
    }

    async generateKey(algorithm, extractable, usages) {
        const params = normal(algorithm);
        if (params.name !== "HMAC" && !AES.includes(params.name)) {
            fail("NotSupportedError", `${params.name} keys are not generated`);
        }
        const secret = new Uint8Array(Math.ceil(keyLength(params) / 8));
        vial.load("web/crypto").fillRandom(secret);
        return makeKey(secret, params, extractable, usages);
    }

    async importKey(format, data, algorithm, extractable, usages) {
        const params = normal(algorithm);
        if (params.name.startsWith("SHA")) {
            fail("NotSupportedError", `${params.name} has no keys`);
        }
        if (format !== "raw" && format !== "jwk") {
            fail("NotSupportedError", `Unable to import a ${params.name} key with format ${format}: ` +
                "vial has raw and jwk");
        }
        const secret = format === "raw" ? bytes(data, "keyData").slice() : importJwk(data, extractable);
        if (params.name === "HMAC" && secret.length === 0) {
            fail("DataError", "Zero-length key is not supported");
        }
        return makeKey(secret, params, extractable, usages);
    }

    async exportKey(format, key) {
        const secret = secretOf(key);
        if (!key.extractable) {
            fail("InvalidAccessError", "key is not extractable");
        }
        if (format === "raw") {
            return secret.slice().buffer;
        }
        if (format !== "jwk") {
            fail("NotSupportedError", `Unable to export a key with format ${format}`);
        }
        return { kty: "oct", k: toBase64url(secret), alg: jwkAlgorithm(key.algorithm),
            key_ops: [...key.usages], ext: key.extractable };
    }

    async sign(algorithm, key, data) {
        const { name } = normal(algorithm);
        const secret = checkKey(key, name, "sign");
        return hmac(HASHES[key.algorithm.hash.name], secret, bytes(data, "data")).slice().buffer;
    }

    async verify(algorithm, key, signature, data) {
        const { name } = normal(algorithm);
        const secret = checkKey(key, name, "verify");
        const wanted = hmac(HASHES[key.algorithm.hash.name], secret, bytes(data, "data"));
        return isEqual(wanted, bytes(signature, "signature"));
    }

    async encrypt(algorithm, key, data) {
        return crypt("encrypt", algorithm, key, data);
    }

    async decrypt(algorithm, key, data) {
        return crypt("decrypt", algorithm, key, data);
    }

    async deriveBits(algorithm, key, length) {
        return (await derive(algorithm, key, length, "deriveBits")).slice().buffer;
    }

    async deriveKey(algorithm, key, derived, extractable, usages) {
        const params = normal(derived);
        const secret = await derive(algorithm, key, keyLength(params), "deriveKey");
        return makeKey(secret, params, extractable, usages);
    }

    async wrapKey(format, key, wrapping, algorithm) {
        const exported = await this.exportKey(format, key);
        const data = format === "jwk" ? new TextEncoder().encode(JSON.stringify(exported)) : exported;
        const params = normal(algorithm);
        checkKey(wrapping, params.name, "wrapKey");
        return crypt("encrypt", params, withUsage(wrapping, "encrypt"), data);
    }

    async unwrapKey(format, wrapped, unwrapping, algorithm, derived, extractable, usages) {
        const params = normal(algorithm);
        checkKey(unwrapping, params.name, "unwrapKey");
        const data = crypt("decrypt", params, withUsage(unwrapping, "decrypt"), wrapped);
        return this.importKey(format, format === "jwk" ? JSON.parse(new TextDecoder().decode(data)) : data,
            derived, extractable, usages);
    }

    get [Symbol.toStringTag]() {
        return "SubtleCrypto";
    }
}

function withUsage(key, usage) {
    return new CryptoKey(KEY, secretOf(key), key.algorithm, false, [usage]);
}

export const subtle = new SubtleCrypto(KEY);
