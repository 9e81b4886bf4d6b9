/* whatwg.js - stands in for the one function of @exodus/bytes that whatwg-url calls. URLs made by
 * programs are always encoded as UTF-8. */
const encoder = new TextEncoder();

export function percentEncodeAfterEncoding(encoding, input, set) {
    if (!/[^\x21-\x7e]/.test(input) && ![...set].some((character) => input.includes(character))) {
        return input;
    }
    let output = "";
    for (const byte of encoder.encode(input)) {
        const character = String.fromCharCode(byte);
        output += byte > 0x1f && byte < 0x7f && !set.includes(character) ? character
            : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    }
    return output;
}
