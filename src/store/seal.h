/* seal.h - bytes made unreadable and unchangeable without a key: XChaCha20-Poly1305 of libsodium.
 * For the inside of src/store only.
 *
 * What is sealed is bound to a label, which is not part of it: it opens only with the very same
 * label. So a sealed value that somebody moved to another place in a file does not open there. */
#ifndef VIAL_STORE_SEAL_H
#define VIAL_STORE_SEAL_H

#include <stddef.h>

#include "vial.h"

enum {
    SEAL_KEY_BYTES = 32,
    SEAL_ID_BYTES = 16,         /* so long that no two keys have the same by chance */
    SEAL_EXTRA_BYTES = 24 + 16, /* what is sealed is so much longer: the nonce and the tag */
};

/* Once in each process, before the others; any number of times. */
VIAL_NODISCARD int seal_start(struct vial_error *err);

/* Random bytes of the kernel's. */
void seal_random(void *bytes, size_t len);

/* A number for a key, which does not tell the key. */
void seal_key_id(const unsigned char key[SEAL_KEY_BYTES], unsigned char ret[SEAL_ID_BYTES]);

/* Writes len + SEAL_EXTRA_BYTES bytes to ret. The nonce is new each time: with 24 random bytes no
 * two are ever the same. */
void seal_close(const unsigned char key[SEAL_KEY_BYTES], const void *label, size_t label_len,
    const void *bytes, size_t len, unsigned char *ret);

/* The reverse: writes sealed_len - SEAL_EXTRA_BYTES bytes to ret. 0, or -1 when it was sealed with
 * another key or label or is damaged, which cannot be told apart; ret has zeros then. */
int seal_open(const unsigned char key[SEAL_KEY_BYTES], const void *label, size_t label_len,
    const unsigned char *sealed, size_t sealed_len, void *ret);

#endif
