/* libedit.c - see libedit.h. */
#include "cli/libedit.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

struct symbol {
    const char *name;
    size_t offset; /* of the pointer in struct libedit */
};

#define SYMBOL(member)                                                                             \
    {                                                                                              \
        .name = #member, .offset = offsetof(struct libedit, member)                                \
    }
static const struct symbol symbols[] = {
    SYMBOL(el_init),
    SYMBOL(el_end),
    SYMBOL(el_set),
    SYMBOL(el_wset),
    SYMBOL(el_gets),
    SYMBOL(el_line),
    SYMBOL(el_insertstr),
    SYMBOL(el_resize),
    SYMBOL(el_source),
    SYMBOL(history_init),
    SYMBOL(history_end),
    SYMBOL(history),
};

int libedit_load(const char *name, struct libedit *lib, struct vial_error *err)
{
    struct libedit found;
    const char *why;
    void *handle;
    void *address;
    size_t i;

    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        why = dlerror();
        return vial__fail(err, VIAL_E_SYS, "line editing needs libedit (install libedit2): %s",
            why != NULL ? why : name);
    }
    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        address = dlsym(handle, symbols[i].name);
        if (address == NULL) {
            (void)dlclose(handle);
            return vial__fail(
                err, VIAL_E_SYS, "%s is no libedit: it has no %s", name, symbols[i].name);
        }
        memcpy((char *)&found + symbols[i].offset, &address, sizeof(address));
    }
    (void)dlclose(handle); /* which RTLD_NODELETE makes a matter of counting */
    *lib = found;
    return VIAL_OK;
}
