/* http_request.c - what the server reads of a request by itself: forms, boundaries, paths, the
 * conventions of JSCodeSandbox, and the JSON of runs. Whatever is read lies within the bytes. */
#include "fuzz.h"
#include "http/compat_check.h"
#include "http/guard.h"
#include "http/multipart.h"
#include "http/run_spec.h"

static void read_form(const char *text, size_t size)
{
    static struct multipart form;
    char *copy = fuzz_copy(text, size);
    size_t i;

    if (multipart_read(&form, copy, size, "B") == NULL) {
        FUZZ_CHECK(form.count <= MULTIPART_PARTS_MAX, "%zu parts", form.count);
        for (i = 0; i < form.count; i++) {
            const struct multipart_part *p = &form.parts[i];

            FUZZ_CHECK(p->bytes >= copy && p->bytes + p->len <= copy + size, "outside");
            FUZZ_CHECK(p->name >= copy && p->name + p->name_len <= copy + size, "outside");
        }
    }
    free(copy);
}

static void read_json(const char *text, size_t size)
{
    static struct run_spec spec;
    struct vial_error err;

    if (run_spec_read(&spec, fuzz_copy(text, size), size, &err) == 0) {
        FUZZ_CHECK(spec.request.size == sizeof(spec.request), "no request");
    }
    run_spec_release(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char boundary[MULTIPART_BOUNDARY_BYTES_MAX + 1];
    struct compat_endowment *list = NULL;
    struct vial_error err;
    size_t count = 0;
    char *text = malloc(size + 1);

    FUZZ_CHECK(text != NULL, "there is no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    if (multipart_boundary(text, boundary) == 0) {
        FUZZ_CHECK(boundary[0] != '\0', "an empty boundary");
    }
    read_form(text, size);
    read_json(text, size);
    if (compat_check_code(text, size, &list, &count, &err) == 0) {
        FUZZ_CHECK(count > 0, "no endowment");
        free(list);
    }
    (void)!compat_check_program(text, size, &err);
    if (guard_decode(text) == 0) {
        FUZZ_CHECK(strlen(text) <= size, "it grew");
    }
    free(text);
    return 0;
}
