/* secret_key.h - the key that secrets are sealed with, in a file of 32 bytes. For the inside of
 * src/store only.
 *
 * A new key takes the place of an old one in two steps, so that a process that dies in between
 * leaves a key for whatever the database then has: it is staged in a file beside the old one (with
 * ".new" behind the name), the database is changed, and then the new file takes the old one's name.
 * Who finds that the file has not the key that the database was sealed with looks at the staged
 * one. All of this is done under a lock that the caller holds. */
#ifndef VIAL_STORE_SECRET_KEY_H
#define VIAL_STORE_SECRET_KEY_H

#include "store/seal.h"
#include "vial.h"

enum secret_key_kind {
    SECRET_KEY_OWN = 0,       /* in the data directory; made when it is first needed */
    SECRET_KEY_FILE = 1,      /* the operator's: only we may read it */
    SECRET_KEY_CREDENTIAL = 2 /* the service manager's, which root or we own; never written */
};

struct secret_key_place {
    const char *path;
    enum secret_key_kind kind;
};

/* A key in memory; secret_key_wipe forgets it. */
struct secret_key {
    unsigned char bytes[SEAL_KEY_BYTES];
    unsigned char id[SEAL_ID_BYTES];
    int is_set;
};
void secret_key_wipe(struct secret_key *key);

/* Reads the file; err->sys is ENOENT when there is none. */
VIAL_NODISCARD int secret_key_read(
    const struct secret_key_place *place, struct secret_key *ret, struct vial_error *err);

/* Finds the key with this id in the file, or in the staged one; *ret_staged tells which. */
VIAL_NODISCARD int secret_key_find(const struct secret_key_place *place,
    const unsigned char id[SEAL_ID_BYTES], struct secret_key *ret, int *ret_staged,
    struct vial_error *err);

/* A new key, which is nowhere yet. */
void secret_key_new(struct secret_key *ret);

/* Writes the key to the file that has no name yet, so that it is on the disk. */
VIAL_NODISCARD int secret_key_make(
    const struct secret_key_place *place, const struct secret_key *key, struct vial_error *err);

/* Writes it beside the file; and gives what is there the name of the file. */
VIAL_NODISCARD int secret_key_stage(
    const struct secret_key_place *place, const struct secret_key *key, struct vial_error *err);
VIAL_NODISCARD int secret_key_unstage(const struct secret_key_place *place, struct vial_error *err);

#endif
