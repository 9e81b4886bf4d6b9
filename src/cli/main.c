/* main.c - temporary */
#include <stdio.h>
#include <string.h>
#include "vial.h"
int main(int argc, char **argv)
{
    struct vial_engine *e; struct vial_error err; struct vial_result *r; struct vial_request q = VIAL_REQUEST_INIT;
    struct vial_engine_options o = VIAL_ENGINE_OPTIONS_INIT;
    o.pool_count = 1;
    if (vial_engine_new(&o, &e, &err) < 0) { printf("engine: %s\n", err.text); return 125; }
    printf("%s\n", vial_engine_isolation(e));
    q.source = argc > 1 ? argv[1] : "1+1"; q.source_len = strlen(q.source);
    if (vial_run(e, &q, &r, &err) < 0) { printf("run: %s\n", err.text); return 125; }
    printf("%s\n", vial_result_json(r, NULL));
    vial_result_free(r);
    vial_engine_free(e);
    return 0;
}
