/* handlers.h - the handlers of all routes but those of sessions; each file is about one resource.
 */
#ifndef VIAL_HTTP_HANDLERS_H
#define VIAL_HTTP_HANDLERS_H

#include "http/exchange.h"

/* runs.c */
void runs_create(struct exchange *x);
void runs_get(struct exchange *x);
void runs_list(struct exchange *x);
void runs_cancel(struct exchange *x);
void runs_events(struct exchange *x);
void runs_call(struct exchange *x);
void runs_file(struct exchange *x);
void runs_artifact(struct exchange *x);

/* record.c */
void runs_recording(struct exchange *x);

/* environments.c */
void environments_create(struct exchange *x);
void environments_update(struct exchange *x);
void environments_list(struct exchange *x);
void environments_versions(struct exchange *x);
void environments_get(struct exchange *x);
void environments_delete(struct exchange *x);
void environments_types(struct exchange *x);
void environments_test(struct exchange *x);

/* tools.c */
void tools_list(struct exchange *x);
void tools_get(struct exchange *x);

/* secrets.c */
void secrets_list(struct exchange *x);
void secrets_put(struct exchange *x);
void secrets_delete(struct exchange *x);

/* keys.c */
void keys_create(struct exchange *x);
void keys_list(struct exchange *x);
void keys_get(struct exchange *x);
void keys_delete(struct exchange *x);

/* audit.c */
void audit_get(struct exchange *x);

/* scan.c */
void scan_create(struct exchange *x);

/* info.c */
void info_health(struct exchange *x);
void info_ready(struct exchange *x);
void info_version(struct exchange *x);
void info_metrics(struct exchange *x);
void info_openapi(struct exchange *x);
void info_runtimes(struct exchange *x);
void info_page(struct exchange *x);

/* compat.c */
void compat_create(struct exchange *x);
void compat_delete(struct exchange *x);
void compat_execute(struct exchange *x);
void compat_audit(struct exchange *x);
void compat_audit_agent(struct exchange *x);
void compat_audit_environment(struct exchange *x);
void compat_audit_status(struct exchange *x);
void compat_audit_get(struct exchange *x);

#endif
