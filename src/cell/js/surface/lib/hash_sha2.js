/* hash_sha2.js - the SHA-2 family, and SHA-1 and its elders: what nearly all programs mean by a digest. */
import { md5, ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js";

export const hashes = {
    __proto__: null, md5, ripemd160, rmd160: ripemd160, sha1, sha224, sha256, sha384, sha512,
    "sha512-224": sha512_224, "sha512-256": sha512_256,
};
