/* libcurl.h - libcurl, loaded when it is first needed.
 *
 * libcurl brings some thirty libraries along, which take 8 ms to load: too much for every start of
 * a program that may never call a server, and much code to have in a process without need. So it
 * is not linked, but opened by the first tool that wants it, and stays. */
#ifndef VIAL_HOST_LIBCURL_H
#define VIAL_HOST_LIBCURL_H

#include <curl/curl.h>

#include "vial.h"

/* The functions that are used, under the names of curl.h without "curl_". */
struct libcurl {
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_pause) *easy_pause;
    __typeof__(curl_easy_reset) *easy_reset;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_multi_add_handle) *multi_add_handle;
    __typeof__(curl_multi_cleanup) *multi_cleanup;
    __typeof__(curl_multi_info_read) *multi_info_read;
    __typeof__(curl_multi_init) *multi_init;
    __typeof__(curl_multi_perform) *multi_perform;
    __typeof__(curl_multi_poll) *multi_poll;
    __typeof__(curl_multi_remove_handle) *multi_remove_handle;
    __typeof__(curl_multi_setopt) *multi_setopt;
    __typeof__(curl_multi_socket_action) *multi_socket_action;
    __typeof__(curl_multi_strerror) *multi_strerror;
    __typeof__(curl_multi_wakeup) *multi_wakeup;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
    __typeof__(curl_url) *url;
    __typeof__(curl_url_cleanup) *url_cleanup;
    __typeof__(curl_url_get) *url_get;
    __typeof__(curl_url_set) *url_set;
    __typeof__(curl_url_strerror) *url_strerror;
    __typeof__(curl_free) *free;
    __typeof__(curl_version_info) *version_info;
};

/* The library, from any thread; it is never unloaded. VIAL_E_SYS says what to install. */
VIAL_NODISCARD int libcurl_get(const struct libcurl **ret, struct vial_error *err);

/* The same from a library of this name into *lib, for the tests. */
VIAL_NODISCARD int libcurl_load(const char *name, struct libcurl *lib, struct vial_error *err);

#endif
