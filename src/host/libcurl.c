/* libcurl.c - see libcurl.h.
 *
 * The GnuTLS flavour comes first. Programs such as Node carry an OpenSSL of their own and export
 * its functions, which would then answer the calls of a libcurl that expects Debian's. */
#include "host/libcurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* The state of the process, because the library is: loaded once, kept until the end. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct libcurl loaded;
static int is_loaded;

struct symbol {
    const char *name;
    size_t offset; /* of the pointer in struct libcurl */
};

#define SYMBOL(member)                                                                             \
    {                                                                                              \
        .name = "curl_" #member, .offset = offsetof(struct libcurl, member)                        \
    }
static const struct symbol symbols[] = {
    SYMBOL(easy_cleanup),
    SYMBOL(easy_getinfo),
    SYMBOL(easy_init),
    SYMBOL(easy_pause),
    SYMBOL(easy_reset),
    SYMBOL(easy_setopt),
    SYMBOL(easy_strerror),
    SYMBOL(global_init),
    SYMBOL(multi_add_handle),
    SYMBOL(multi_cleanup),
    SYMBOL(multi_info_read),
    SYMBOL(multi_init),
    SYMBOL(multi_perform),
    SYMBOL(multi_poll),
    SYMBOL(multi_remove_handle),
    SYMBOL(multi_setopt),
    SYMBOL(multi_socket_action),
    SYMBOL(multi_strerror),
    SYMBOL(multi_wakeup),
    SYMBOL(slist_append),
    SYMBOL(slist_free_all),
    SYMBOL(url),
    SYMBOL(url_cleanup),
    SYMBOL(url_get),
    SYMBOL(url_set),
    SYMBOL(url_strerror),
    SYMBOL(free),
    SYMBOL(version_info),
};

/* What the executor relies on: options that came with 7.87, and a resolver that can be left alone,
 * without which a name server that hangs would hold a call past its deadline. */
static int check_version(const struct libcurl *lib, struct vial_error *err)
{
    const curl_version_info_data *info = lib->version_info(CURLVERSION_NOW);

    if (info->version_num < 0x075700) {
        return vial__fail(err, VIAL_E_SYS,
            "libcurl %s is too old for tools over HTTP: 7.87 or later is needed", info->version);
    }
    if ((info->features & CURL_VERSION_ASYNCHDNS) == 0 ||
        (info->features & CURL_VERSION_SSL) == 0) {
        return vial__fail(err, VIAL_E_SYS,
            "libcurl %s was built without TLS or without an asynchronous resolver; tools over HTTP "
            "need both",
            info->version);
    }
    return VIAL_OK;
}

int libcurl_load(const char *name, struct libcurl *lib, struct vial_error *err)
{
    struct libcurl found;
    const char *why;
    void *handle;
    void *address;
    size_t i;
    int r;

    /* Not to be unloaded: its threads and the destructors of ours may still run in it. */
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        why = dlerror();
        return vial__fail(err, VIAL_E_SYS,
            "tools over HTTP need libcurl (install libcurl3-gnutls): %s", why != NULL ? why : name);
    }
    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        address = dlsym(handle, symbols[i].name);
        if (address == NULL) {
            (void)dlclose(handle);
            return vial__fail(
                err, VIAL_E_SYS, "%s is no libcurl: it has no %s", name, symbols[i].name);
        }
        memcpy((char *)&found + symbols[i].offset, &address, sizeof(address));
    }
    r = check_version(&found, err);
    if (r == 0 && found.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        r = vial__fail(err, VIAL_E_SYS, "libcurl could not be initialised");
    }
    (void)dlclose(handle); /* which RTLD_NODELETE makes a matter of counting */
    if (r == 0) {
        *lib = found;
    }
    return r;
}

int libcurl_get(const struct libcurl **ret, struct vial_error *err)
{
    int r = 0;

    (void)pthread_mutex_lock(&lock);
    if (!is_loaded) {
        r = libcurl_load("libcurl-gnutls.so.4", &loaded, err);
        if (r < 0) { /* systems other than Debian have one flavour under the plain name */
            r = libcurl_load("libcurl.so.4", &loaded, NULL) == 0 ? 0 : r;
        }
        is_loaded = r == 0;
    }
    (void)pthread_mutex_unlock(&lock);
    if (r == 0) {
        *ret = &loaded;
    }
    return r;
}
