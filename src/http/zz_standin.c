/* temporary */
#include "store/audit.h"
#include "store/run_store.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#pragma GCC diagnostic ignored "-Wunused-parameter"
int audit_open(const struct audit_options *o, struct audit **r, struct vial_error *e){*r=NULL;return 0;}
void audit_free(struct audit *a, uint64_t *l){}
int audit_add(struct audit *a,const struct audit_record *r,uint64_t *t,struct vial_error *e){return 0;}
void audit_stats(struct audit *a, struct audit_stats *r){memset(r,0,sizeof(*r));}
int audit_retain(struct audit *a,uint64_t b,uint64_t c,uint64_t *d,struct vial_error *e){*d=0;return 0;}
int audit_reader_open(const char*d,struct audit_reader**r,struct vial_error*e){return vial__fail(e,VIAL_E_INVALID,"none");}
void audit_reader_free(struct audit_reader*r){}
int audit_list(struct audit_reader *reader, const struct audit_filter *filter,
    const char *cursor, uint32_t limit, int with_code, audit_on_entry *on_entry, void *user,
    char ret_cursor[AUDIT_CURSOR_BYTES_MAX], struct vial_error *err){return 0;}
void stored_run_release(struct stored_run*r){}
int run_store_open(const char*d,struct run_store**r,struct vial_error*e){*r=NULL;return 0;}
void run_store_free(struct run_store*s){}
int run_store_recover(struct run_store *store, const char *status,
    const char *result, size_t result_len, uint64_t now_us, size_t *ret_count,
    struct vial_error *err){*ret_count=0;return 0;}
int run_store_save(struct run_store *store, const struct stored_run *runs, size_t count, struct vial_error *err){return 0;}
int run_store_get(struct run_store *store, const char *id, struct stored_run *ret, struct vial_error *err){int r=vial__fail(err,VIAL_E_INVALID,"none");err->sys=ENOENT;return r;}
int run_store_list(struct run_store *store, const struct run_filter *filter,
    const char *cursor, uint32_t limit, struct stored_run **ret, size_t *ret_count,
    char ret_cursor[ID_BYTES_MAX + 1], struct vial_error *err){*ret=NULL;*ret_count=0;return 0;}
int run_store_retain(struct run_store *store, uint64_t now_us,
    uint64_t older_than_us, uint64_t count_max, uint64_t *ret_removed, struct vial_error *err){*ret_removed=0;return 0;}
int run_store_usage(struct run_store *store, uint64_t now_us,
    void (*on_use)(const char *key, uint64_t then_us, uint64_t cpu_us, void *user), void *user,
    struct vial_error *err){return 0;}
void idempotency_answer_release(struct idempotency_answer *answer){}
int idempotency_begin(struct run_store *store, const char *key, const char *name,
    size_t name_len, const void *request, size_t request_len, uint64_t now_us,
    enum idempotency_state *ret, struct idempotency_answer *ret_answer, struct vial_error *err){*ret=IDEMPOTENCY_NEW;return 0;}
int idempotency_set_run(struct run_store *store, const char *key, const char *name,
    size_t name_len, const char *run, struct vial_error *err){return 0;}
int idempotency_end(struct run_store *store, const char *key, const char *name,
    size_t name_len, const struct idempotency_answer *answer, struct vial_error *err){return 0;}
int idempotency_drop(struct run_store *store, const char *key, const char *name,
    size_t name_len, struct vial_error *err){return 0;}
