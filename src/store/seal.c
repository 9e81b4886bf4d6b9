/* seal.c - see seal.h.
 *
 * Sealed bytes are the nonce, then what libsodium makes of the text, then the tag. XChaCha20 rather
 * than the shorter nonces of AES-GCM or ChaCha20: random nonces are safe with it for as many
 * messages as anybody will ever store under one key, and there is no counter that a restored copy
 * of the file could set back. */
#include "store/seal.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"

enum {
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
};
_Static_assert(SEAL_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "the key");
_Static_assert(SEAL_EXTRA_BYTES == NONCE_BYTES + TAG_BYTES, "what is around the text");
_Static_assert(SEAL_ID_BYTES >= crypto_generichash_BYTES_MIN, "the number of a key");

static const unsigned char KEY_ID_TEXT[] = "the number of a key of vial";

int seal_start(struct vial_error *err)
{
    return sodium_init() < 0
               ? vial__fail(err, VIAL_E_SYS, "libsodium finds no random numbers on this machine")
               : VIAL_OK;
}

void seal_random(void *bytes, size_t len)
{
    randombytes_buf(bytes, len);
}

void seal_key_id(const unsigned char key[SEAL_KEY_BYTES], unsigned char ret[SEAL_ID_BYTES])
{
    int r = crypto_generichash(
        ret, SEAL_ID_BYTES, KEY_ID_TEXT, sizeof(KEY_ID_TEXT) - 1, key, SEAL_KEY_BYTES);

    assert(r == 0); /* fails for lengths out of range only */
    (void)r;
}

void seal_close(const unsigned char key[SEAL_KEY_BYTES], const void *label, size_t label_len,
    const void *bytes, size_t len, unsigned char *ret)
{
    int r;

    seal_random(ret, NONCE_BYTES);
    r = crypto_aead_xchacha20poly1305_ietf_encrypt(
        ret + NONCE_BYTES, NULL, bytes, len, label, label_len, NULL, ret, key);
    assert(r == 0); /* it has no way to fail */
    (void)r;
}

int seal_open(const unsigned char key[SEAL_KEY_BYTES], const void *label, size_t label_len,
    const unsigned char *sealed, size_t sealed_len, void *ret)
{
    int r;

    if (sealed_len < SEAL_EXTRA_BYTES) {
        return -1;
    }
    r = crypto_aead_xchacha20poly1305_ietf_decrypt(ret, NULL, NULL, sealed + NONCE_BYTES,
        sealed_len - NONCE_BYTES, label, label_len, sealed, key);
    if (r != 0) {
        explicit_bzero(ret, sealed_len - SEAL_EXTRA_BYTES);
        return -1;
    }
    return 0;
}
