/* secret.h - what an operator keeps for programs that must never see it: values by name, encrypted
 * in the database of the data directory.
 *
 *     secret_open -> secret_set, secret_get, secret_list, ... -> secret_free
 *
 * The key is in a file: see struct secret_options. It is read when it is first needed, so listing
 * and deleting work without it. A value is sealed together with its name and its version: moved to
 * another name it does not open. Who can change the file can still put back an older version of the
 * whole file, or delete from it.
 *
 * Many processes may use a directory at the same time. A change is on the disk when the call
 * returns, and a process that dies leaves everything as it was before or after it; a new key
 * (secret_rotate) is no exception.
 *
 * Failures: a name that is not there is VIAL_E_INVALID with err->sys ENOENT; a key that is missing,
 * wrong or readable by others, a record that is damaged or moved, and a database of a newer vial
 * VIAL_E_SYS. No sentence has anything of a value or a key in it. A store may be used by several
 * threads. */
#ifndef VIAL_STORE_SECRET_H
#define VIAL_STORE_SECRET_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/secret_name.h"
#include "vial.h"

enum {
    /* All are encrypted again in one transaction when the key changes, and this many large ones
     * take less than a second. */
    SECRETS_MAX = 1000,
};

struct secret_store;

/* Where everything is. At most one of key_file and credential is given. */
struct secret_options {
    const char *directory;  /* of the store, made when missing */
    const char *key_file;   /* 32 bytes in a regular file of ours with mode 0600 or less */
    const char *credential; /* the same from the service manager, whose owner may be root */
    /* With neither the key is in "secret.key" in the directory, and made when it is needed. */
};

/* A value that was asked for. */
struct secret_value {
    char *bytes; /* owned; ended by a NUL that len does not count */
    size_t len;
};

/* Forgets the value: overwrites it and gives its memory back. Takes one that was never filled. */
void secret_value_release(struct secret_value *value);

/* What may be known of a secret. */
struct secret_info {
    char name[SECRET_NAME_BYTES_MAX + 1];
    uint64_t version;    /* 1, and one more with each new value */
    uint64_t created_us; /* since 1970 */
    uint64_t changed_us;
    uint64_t value_bytes;
};

VIAL_NODISCARD int secret_open(
    const struct secret_options *options, struct secret_store **ret, struct vial_error *err);
void secret_free(struct secret_store *store);

/* A new secret, or a new value of one that is there. ret may be NULL. */
VIAL_NODISCARD int secret_set(struct secret_store *store, const char *name, const void *bytes,
    size_t len, struct secret_info *ret, struct vial_error *err);

VIAL_NODISCARD int secret_get(
    struct secret_store *store, const char *name, struct secret_value *ret, struct vial_error *err);

/* The same in the form of a callback: user is the store; the value is added to *ret, which the
 * caller gives back with buf_wipe. */
VIAL_NODISCARD int secret_lookup(
    void *user, const char *name, struct buf *ret, struct vial_error *err);

VIAL_NODISCARD int secret_delete(
    struct secret_store *store, const char *name, struct vial_error *err);

/* All of them by name. The array belongs to the caller, who frees it. */
VIAL_NODISCARD int secret_list(struct secret_store *store, struct secret_info **ret,
    size_t *ret_count, struct vial_error *err);

/* Opens every record, and forgets what it sees: 0 with the count of those that are fine, and on_bad
 * was called with the name of each other one. */
VIAL_NODISCARD int secret_check(struct secret_store *store,
    void (*on_bad)(const char *name, void *user), void *user, size_t *ret_count,
    struct vial_error *err);

/* Encrypts all with a new key. Without new_key_file the key is made, and replaces the one in the
 * key file; a credential cannot be replaced. With it the key is in that file, which the store must
 * be opened with from then on; what was opened before, here and elsewhere, must be opened anew.
 * When anything fails before the end, the old key and values stay. */
VIAL_NODISCARD int secret_rotate(struct secret_store *store, const char *new_key_file,
    size_t *ret_count, struct vial_error *err);

#endif
