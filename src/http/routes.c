/* routes.c - the table of all routes. docs/api.md and share/openapi.json say what each does. */
#include "http/handlers.h"
#include "http/router.h"
#include "http/sessions.h"
#include "store/key.h"

#define RUN KEY_SCOPE_RUN
#define SESSION KEY_SCOPE_SESSION
#define ENV KEY_SCOPE_ENV
#define ADMIN KEY_SCOPE_ADMIN
#define ANY KEY_SCOPES_ALL

const struct route ROUTES[] = {
    {"GET", "/healthz", 0, ROUTE_OPEN, NULL, info_health},
    {"GET", "/readyz", 0, ROUTE_OPEN, NULL, info_ready},
    {"GET", "/version", 0, ROUTE_OPEN, NULL, info_version},
    {"GET", "/", 0, ROUTE_OPEN, NULL, info_page},
    {"GET", "/metrics", ADMIN, 0, NULL, info_metrics},
    {"GET", "/v1/openapi.json", ANY, 0, NULL, info_openapi},
    {"GET", "/v1/runtimes", ANY, 0, NULL, info_runtimes},

    {"POST", "/v1/runs", RUN, ROUTE_ANY_BODY, "RunRequest", runs_create},
    {"GET", "/v1/runs", RUN | ADMIN, 0, NULL, runs_list},
    {"GET", "/v1/runs/{id}", RUN | SESSION | ADMIN, 0, NULL, runs_get},
    {"POST", "/v1/runs/{id}/cancel", RUN | SESSION | ADMIN, 0, NULL, runs_cancel},
    {"GET", "/v1/runs/{id}/events", RUN | SESSION | ADMIN, 0, NULL, runs_events},
    {"POST", "/v1/runs/{id}/calls/{call}", RUN | SESSION, 0, "CallAnswer", runs_call},
    {"GET", "/v1/runs/{id}/files/{path*}", RUN | SESSION | ADMIN, 0, NULL, runs_file},
    {"GET", "/v1/runs/{id}/artifacts/{artifact}/{representation}", RUN | SESSION | ADMIN, 0, NULL,
        runs_artifact},
    {"GET", "/v1/runs/{id}/recording", RUN | ADMIN, 0, NULL, runs_recording},

    {"POST", "/v1/sessions", SESSION, ROUTE_ANY_BODY, "SessionRequest", sessions_create},
    {"GET", "/v1/sessions", SESSION | ADMIN, 0, NULL, sessions_list},
    {"GET", "/v1/sessions/{id}", SESSION | ADMIN, 0, NULL, sessions_get},
    {"POST", "/v1/sessions/{id}/eval", SESSION, ROUTE_ANY_BODY, "EvalRequest", sessions_eval},
    {"POST", "/v1/sessions/{id}/branch", SESSION, 0, "BranchRequest", sessions_branch},
    {"POST", "/v1/sessions/{id}/complete", SESSION, 0, "CompleteRequest", sessions_complete},
    {"GET", "/v1/sessions/{id}/files", SESSION, 0, NULL, sessions_file_list},
    {"GET", "/v1/sessions/{id}/files/{path*}", SESSION, 0, NULL, sessions_file_get},
    {"PUT", "/v1/sessions/{id}/files/{path*}", SESSION, ROUTE_ANY_BODY, NULL, sessions_file_put},
    {"DELETE", "/v1/sessions/{id}/files/{path*}", SESSION, 0, NULL, sessions_file_delete},
    {"DELETE", "/v1/sessions/{id}", SESSION | ADMIN, 0, NULL, sessions_delete},

    {"POST", "/v1/environments", ENV, ROUTE_WORKS | ROUTE_ANY_BODY, NULL, environments_create},
    {"PUT", "/v1/environments/{name}", ENV, ROUTE_WORKS | ROUTE_ANY_BODY, NULL,
        environments_update},
    {"GET", "/v1/environments", ANY, ROUTE_WORKS, NULL, environments_list},
    {"GET", "/v1/environments/{name}/versions", ANY, ROUTE_WORKS, NULL, environments_versions},
    {"GET", "/v1/environments/{name}/types", ANY, ROUTE_WORKS, NULL, environments_types},
    {"POST", "/v1/environments/{name}/test", ENV, ROUTE_WORKS, NULL, environments_test},
    {"GET", "/v1/environments/{name}", ENV | ADMIN, ROUTE_WORKS, NULL, environments_get},
    {"DELETE", "/v1/environments/{name}", ENV, ROUTE_WORKS, NULL, environments_delete},

    {"GET", "/v1/tools", ANY, ROUTE_WORKS, NULL, tools_list},
    {"GET", "/v1/tools/{name}", ANY, ROUTE_WORKS, NULL, tools_get},

    {"GET", "/v1/secrets", ADMIN, ROUTE_WORKS, NULL, secrets_list},
    {"PUT", "/v1/secrets/{name}", ADMIN, ROUTE_WORKS, "SecretRequest", secrets_put},
    {"DELETE", "/v1/secrets/{name}", ADMIN, ROUTE_WORKS, NULL, secrets_delete},

    {"POST", "/v1/keys", ADMIN, ROUTE_WORKS, "KeyRequest", keys_create},
    {"GET", "/v1/keys", ADMIN, ROUTE_WORKS, NULL, keys_list},
    {"GET", "/v1/keys/{id}", ADMIN, ROUTE_WORKS, NULL, keys_get},
    {"DELETE", "/v1/keys/{id}", ADMIN, ROUTE_WORKS, NULL, keys_delete},

    {"GET", "/v1/audit", ADMIN, ROUTE_WORKS, NULL, audit_get},
    {"POST", "/v1/scan", RUN, 0, "ScanRequest", scan_create},

    {"POST", "/api/environments", ENV, ROUTE_WORKS | ROUTE_ANY_BODY, "CompatEnvironment",
        compat_create},
    {"POST", "/api/Provisioning", ENV, ROUTE_WORKS | ROUTE_ANY_BODY, "CompatEnvironment",
        compat_create},
    {"DELETE", "/api/environments/{name}", ENV, ROUTE_WORKS, NULL, compat_delete},
    {"DELETE", "/api/Provisioning/{name}", ENV, ROUTE_WORKS, NULL, compat_delete},
    {"POST", "/api/execute", RUN, ROUTE_ANY_BODY, "CompatExecute", compat_execute},
    {"POST", "/api/Execution/{name}", RUN, ROUTE_ANY_BODY, "CompatExecution", compat_execute},
    {"GET", "/api/Audit", ADMIN, ROUTE_WORKS, NULL, compat_audit},
    {"GET", "/api/Audit/by-user-agent/{agent}", ADMIN, ROUTE_WORKS, NULL, compat_audit_agent},
    {"GET", "/api/Audit/by-environment/{name}", ADMIN, ROUTE_WORKS, NULL, compat_audit_environment},
    {"GET", "/api/Audit/by-error-status/{is_error}", ADMIN, ROUTE_WORKS, NULL, compat_audit_status},
    {"GET", "/api/Audit/{id}", ADMIN, ROUTE_WORKS, NULL, compat_audit_get},
    {NULL, NULL, 0, 0, NULL, NULL},
};
