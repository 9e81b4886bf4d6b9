/* libmicrohttpd.h - libmicrohttpd, loaded when a server is started.
 *
 * It brings GnuTLS and ten more libraries along, which take milliseconds to load; `vial run` has no
 * use for any of them. So it is not linked, but opened by `vial serve`, and stays. */
#ifndef VIAL_HTTP_LIBMICROHTTPD_H
#define VIAL_HTTP_LIBMICROHTTPD_H

#include <microhttpd.h>

#include "vial.h"

/* The functions that are used, under the names of microhttpd.h without "MHD_". */
struct mhd {
    __typeof__(MHD_start_daemon) *start_daemon;
    __typeof__(MHD_stop_daemon) *stop_daemon;
    __typeof__(MHD_quiesce_daemon) *quiesce_daemon;
    __typeof__(MHD_run) *run;
    __typeof__(MHD_get_timeout) *get_timeout;
    __typeof__(MHD_get_daemon_info) *get_daemon_info;
    __typeof__(MHD_get_connection_info) *get_connection_info;
    __typeof__(MHD_get_connection_values_n) *get_connection_values_n;
    __typeof__(MHD_lookup_connection_value) *lookup_connection_value;
    __typeof__(MHD_queue_response) *queue_response;
    __typeof__(MHD_create_response_from_buffer_with_free_callback) *create_response_from_buffer;
    __typeof__(MHD_create_response_from_callback) *create_response_from_callback;
    __typeof__(MHD_add_response_header) *add_response_header;
    __typeof__(MHD_destroy_response) *destroy_response;
    __typeof__(MHD_suspend_connection) *suspend_connection;
    __typeof__(MHD_resume_connection) *resume_connection;
    __typeof__(MHD_get_version) *get_version;
};

/* The library once mhd_load has gone well; it is never unloaded. */
extern const struct mhd *mhd;

/* VIAL_E_SYS says what to install. */
VIAL_NODISCARD int mhd_load(struct vial_error *err);

#endif
