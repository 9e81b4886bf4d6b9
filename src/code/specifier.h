/* specifier.h - what names a module may have, and which module a name means.
 *
 * This is the one check that every name goes through: those that a run gives to its modules, and
 * those that guest code asks for by import, import(), export from and require. There are no files
 * and no network behind a name, so nothing depends on it but clear answers; it is strict so that a
 * name has one meaning. */
#ifndef VIAL_CODE_SPECIFIER_H
#define VIAL_CODE_SPECIFIER_H

#include <stddef.h>

#include "base/buf.h"

/* Longer names are no names; file systems stop at 255 or 4096. */
enum { SPECIFIER_BYTES_MAX = 1024 };

/* Makes the full name of the module that specifier means when the module named referrer asks for
 * it, and adds it to out:
 *
 *     ./b.js      in the folder of the referrer: ./lib/b.js when that is ./lib/a.js
 *     lodash      a name of its own, which is as it is
 *     node:fs     a built-in module, the same
 *
 * referrer is a full name, or NULL for what is at the root. NULL when that went well, else the
 * reason for refusing the name, as the rest of a sentence: "is empty". */
const char *specifier_resolve(
    const char *specifier, size_t len, const char *referrer, size_t referrer_len, struct buf *out);

/* The same for a name that a run gives to a module: it must not be one of a built-in module. */
const char *specifier_resolve_own(const char *specifier, size_t len, struct buf *out);

#endif
