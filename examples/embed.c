/* embed.c - a host program: runs three guest programs in one engine and prints their result
 * objects.
 *
 * cc embed.c $(pkg-config --cflags --libs vial) -o embed */
#include <stdio.h>
#include <string.h>
#include <vial.h>

static const char *const PROGRAMS[] = {
    "input.map(x => x * 2)",
    "await new Promise(r => setTimeout(r, 10)); 'waited'",
    "while (true) {}",
};

int main(void)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_engine *engine;
    struct vial_result *result;
    struct vial_error err;
    size_t i;

    limits.cpu_ms_max = 200;
    if (vial_engine_new(NULL, &engine, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (i = 0; i < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
        struct vial_request request = VIAL_REQUEST_INIT;

        request.source = PROGRAMS[i];
        request.source_len = strlen(PROGRAMS[i]);
        request.input = "[1, 2, 3]";
        request.input_len = strlen(request.input);
        request.limits = &limits;
        if (vial_run(engine, &request, &result, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            break;
        }
        printf("%s\n", vial_result_json(result, NULL));
        vial_result_free(result);
    }
    vial_engine_free(engine);
    return 0;
}
