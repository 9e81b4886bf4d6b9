/* audit_reader.h - a reader's inside, which listing and verifying share. For src/store/audit*.c
 * only. */
#ifndef VIAL_STORE_AUDIT_READER_H
#define VIAL_STORE_AUDIT_READER_H

#include <sqlite3.h>

struct audit_reader {
    sqlite3 *db;
    int lock_fd, head_fd;
};

#endif
