/* jwk.js - secrets as JSON Web Keys, and base64url. */
export function toBase64url(bytes) {
    return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

export function fromBase64url(text) {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
