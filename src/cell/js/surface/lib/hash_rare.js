/* hash_rare.js - digests that few programs ask for: SHA-3 and BLAKE2. */
import { blake2b, blake2s } from "@noble/hashes/blake2.js";
import { sha3_224, sha3_256, sha3_384, sha3_512, shake128, shake256 } from "@noble/hashes/sha3.js";

export const hashes = {
    __proto__: null, "sha3-224": sha3_224, "sha3-256": sha3_256, "sha3-384": sha3_384, "sha3-512": sha3_512,
    shake128, shake256, blake2b512: blake2b, blake2s256: blake2s,
};
