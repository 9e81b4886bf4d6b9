/* idna.js - stands in for the package tr46 (470 kB of tables): the engine's ICU knows the same. */
export function toASCII(domain) {
    return vial.native.domainToASCII(domain);
}

export function toUnicode(domain) {
    return { domain: vial.native.domainToUnicode(domain), error: false };
}
