/* key.h - the keys that clients of a server have: what each may do and how much, in the database of
 * the data directory.
 *
 *     key_store_open -> key_create, key_find, key_list, key_revoke, ... -> key_store_free
 *
 * A token is "vial_<id>_<secret>": 12 characters that name the key and 52 that prove it, which are
 * 260 random bits in lower case base 32. It is shown once. What is stored is the SHA-256 of the
 * token, which is compared in constant time; a slow hash would gain nothing, because nobody can try
 * 2^260 of them.
 *
 * A key that was revoked or has expired stays in the list, so that old records of it can be read;
 * KEY_FORGET_US later it is forgotten. Revoking takes effect with the next key_find, in every
 * process.
 *
 * Many processes may use a directory at the same time, and several threads a store. Failures: no
 * such id is VIAL_E_INVALID with err->sys ENOENT; a database that is damaged, full or of a newer
 * vial VIAL_E_SYS. No sentence has anything of a token in it. */
#ifndef VIAL_STORE_KEY_H
#define VIAL_STORE_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/quota_limits.h"
#include "vial.h"

enum {
    KEY_ID_BYTES = 12,
    KEY_SECRET_CHARS = 52,
    KEY_TOKEN_BYTES = 5 + KEY_ID_BYTES + 1 + KEY_SECRET_CHARS, /* vial_<id>_<secret> */
    KEY_NAME_BYTES_MAX = 64,
    KEYS_MAX = 10000, /* a list is read whole; this many take 3 MB */
    KEY_SCOPES_TEXT_BYTES_MAX = 32,
};

#define KEY_FORGET_US (UINT64_C(365) * 86400 * 1000000)

/* None implies another: a key that may change everything need not be one that runs programs. */
enum key_scope {
    KEY_SCOPE_RUN = 1,
    KEY_SCOPE_SESSION = 2,
    KEY_SCOPE_ENV = 4,
    KEY_SCOPE_ADMIN = 8,
    KEY_SCOPES_ALL = 15,
};

/* What may be known of a key. Times are microseconds since 1970. */
struct key_info {
    char id[KEY_ID_BYTES + 1];
    char name[KEY_NAME_BYTES_MAX + 1]; /* "" when it has none */
    uint32_t scopes;                   /* of enum key_scope */
    struct quota quota;
    uint64_t created_us;
    uint64_t used_us;    /* 0: never. Written down later: at most a minute of it is lost */
    uint64_t expires_us; /* 0: never */
    uint64_t revoked_us; /* 0: not */
};

struct key_options {
    const char *name; /* UTF-8 without control characters; NULL for none */
    uint32_t scopes;  /* at least one */
    struct quota quota;
    uint64_t expires_us; /* in the future, or 0 */
};

struct key_store;

VIAL_NODISCARD int key_store_open(
    const char *directory, struct key_store **ret, struct vial_error *err);
/* Writes down the last uses, if it can. */
void key_store_free(struct key_store *store);

/* A new key. ret_token gets the token with a NUL behind it: whoever has shown it overwrites it. */
VIAL_NODISCARD int key_create(struct key_store *store, const struct key_options *options,
    struct key_info *ret, char ret_token[KEY_TOKEN_BYTES + 1], struct vial_error *err);

/* The key of a token that somebody presented, any bytes. VIAL_E_INVALID with err->sys EKEYREJECTED
 * when there is none, EKEYREVOKED or EKEYEXPIRED when it was right but is not any more (and *ret is
 * filled then too). Whatever else fails is no permission either. Remembers the use; no I/O but the
 * reading of one row. */
VIAL_NODISCARD int key_find(struct key_store *store, const char *token, size_t len,
    struct key_info *ret, struct vial_error *err);

/* The id in a token that looks like one, whether there is such a key or not; for logs of what was
 * refused. 0, or -1 when it does not look like one. */
int key_token_id(const char *token, size_t len, char ret[KEY_ID_BYTES + 1]);

VIAL_NODISCARD int key_get(
    struct key_store *store, const char *id, struct key_info *ret, struct vial_error *err);

/* All of them, oldest first. The array belongs to the caller, who frees it. */
VIAL_NODISCARD int key_list(
    struct key_store *store, struct key_info **ret, size_t *ret_count, struct vial_error *err);

/* From now on it is refused. One that was revoked before stays revoked since then. ret may be NULL.
 */
VIAL_NODISCARD int key_revoke(
    struct key_store *store, const char *id, struct key_info *ret, struct vial_error *err);

/* Writes down when keys were last used: to be called every minute or so. */
VIAL_NODISCARD int key_flush(struct key_store *store, struct vial_error *err);

/* "run,session" and the reverse. One of them alone by its name: 0 when there is no such scope. */
uint32_t key_scope_named(const char *name, size_t len);
VIAL_NODISCARD int key_scopes_parse(const char *text, uint32_t *ret, struct vial_error *err);
void key_scopes_text(uint32_t scopes, char ret[KEY_SCOPES_TEXT_BYTES_MAX]);

#endif
