/* libmicrohttpd.c - see libmicrohttpd.h. */
#include "http/libmicrohttpd.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

#define LIBRARY "libmicrohttpd.so.12"

const struct mhd *mhd;

static const struct {
    const char *name;
    size_t offset;
} FUNCTIONS[] = {
    {"MHD_start_daemon", offsetof(struct mhd, start_daemon)},
    {"MHD_stop_daemon", offsetof(struct mhd, stop_daemon)},
    {"MHD_quiesce_daemon", offsetof(struct mhd, quiesce_daemon)},
    {"MHD_run", offsetof(struct mhd, run)},
    {"MHD_get_timeout", offsetof(struct mhd, get_timeout)},
    {"MHD_get_daemon_info", offsetof(struct mhd, get_daemon_info)},
    {"MHD_get_connection_info", offsetof(struct mhd, get_connection_info)},
    {"MHD_get_connection_values_n", offsetof(struct mhd, get_connection_values_n)},
    {"MHD_lookup_connection_value", offsetof(struct mhd, lookup_connection_value)},
    {"MHD_queue_response", offsetof(struct mhd, queue_response)},
    {"MHD_create_response_from_buffer_with_free_callback",
        offsetof(struct mhd, create_response_from_buffer)},
    {"MHD_create_response_from_callback", offsetof(struct mhd, create_response_from_callback)},
    {"MHD_add_response_header", offsetof(struct mhd, add_response_header)},
    {"MHD_destroy_response", offsetof(struct mhd, destroy_response)},
    {"MHD_suspend_connection", offsetof(struct mhd, suspend_connection)},
    {"MHD_resume_connection", offsetof(struct mhd, resume_connection)},
    {"MHD_get_version", offsetof(struct mhd, get_version)},
};

int mhd_load(struct vial_error *err)
{
    static struct mhd loaded;
    void *library;
    size_t i;

    if (mhd != NULL) {
        return VIAL_OK;
    }
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return vial__fail(err, VIAL_E_SYS,
            "a server needs %s, which cannot be loaded; install libmicrohttpd12", LIBRARY);
    }
    for (i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); i++) {
        void *found = dlsym(library, FUNCTIONS[i].name);

        if (found == NULL) {
            (void)dlclose(library);
            return vial__fail(err, VIAL_E_SYS,
                "%s has no %s; install libmicrohttpd 0.9.75 or later", LIBRARY, FUNCTIONS[i].name);
        }
        memcpy((char *)&loaded + FUNCTIONS[i].offset, &found, sizeof(found));
    }
    mhd = &loaded;
    return VIAL_OK;
}
