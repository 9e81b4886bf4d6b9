/* egress_net.c - see egress_net.h. */
#include "host/egress_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/sigpipe.h"

enum {
    CONNECTIONS_MAX = 16, /* that are kept when nobody uses them */
    IDLE_MAX = 16,        /* handles that are kept */
    DUE_MAX = 16,         /* timers that are due at once; then the sockets have their turn */
    SOCKETS_FIRST = 8,
};

struct name {
    char *host; /* NULL: the place is free */
    struct egress_question *question;
    enum egress_resolved state;
    uint64_t until_us; /* then it is asked for again */
    struct net_address addresses[EGRESS_ADDRESSES_MAX];
    size_t count;
};

struct egress_net {
    const struct libcurl *lib;
    CURLM *multi;
    int wake_fd;
    struct pollfd *sockets;
    size_t sockets_count, sockets_capacity;
    uint64_t timer_us; /* UINT64_MAX: none */
    CURL *idle[IDLE_MAX];
    unsigned idle_count;
    int may_have_tls;
    struct name names[EGRESS_NAMES_MAX];
};

/* ---- what libcurl wants to be waited for ---- */

static short events_of(int what)
{
    return (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket)
{
    struct egress_net *net = user;
    struct pollfd *grown;
    size_t i, capacity;

    (void)easy;
    (void)of_socket;
    for (i = 0; i < net->sockets_count && net->sockets[i].fd != fd; i++) {
    }
    if (what == CURL_POLL_REMOVE) {
        if (i < net->sockets_count) {
            net->sockets[i] = net->sockets[--net->sockets_count];
        }
        return 0;
    }
    if (i == net->sockets_capacity) {
        capacity = i > 0 ? 2 * i : SOCKETS_FIRST;
        grown = capacity <= EGRESS_SOCKETS_MAX
                    ? realloc(net->sockets, capacity * sizeof(*net->sockets))
                    : NULL;
        if (grown == NULL) {
            return -1;
        }
        net->sockets = grown;
        net->sockets_capacity = capacity;
    }
    net->sockets_count += i == net->sockets_count;
    net->sockets[i] = (struct pollfd){.fd = fd, .events = events_of(what)};
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *user)
{
    struct egress_net *net = user;

    (void)multi;
    net->timer_us = ms < 0 ? UINT64_MAX : clock_now_us() + (uint64_t)ms * 1000;
    return 0;
}

/* ---- life ---- */

int egress_net_new(int wake_fd, struct egress_net **ret, struct vial_error *err)
{
    const struct libcurl *lib = NULL;
    struct egress_net *net;
    int r = libcurl_get(&lib, err);

    if (r < 0) {
        return r;
    }
    net = calloc(1, sizeof(*net));
    if (net == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the network of a run");
    }
    net->lib = lib;
    net->wake_fd = wake_fd;
    net->timer_us = UINT64_MAX;
    net->multi = lib->multi_init();
    if (net->multi == NULL ||
        lib->multi_setopt(net->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_MAX) != CURLM_OK ||
        lib->multi_setopt(net->multi, CURLMOPT_SOCKETFUNCTION, on_socket) != CURLM_OK ||
        lib->multi_setopt(net->multi, CURLMOPT_SOCKETDATA, net) != CURLM_OK ||
        lib->multi_setopt(net->multi, CURLMOPT_TIMERFUNCTION, on_timer) != CURLM_OK ||
        lib->multi_setopt(net->multi, CURLMOPT_TIMERDATA, net) != CURLM_OK) {
        egress_net_free(net);
        return vial__fail(err, VIAL_E_NOMEM, "libcurl has no memory for a request");
    }
    *ret = net;
    return VIAL_OK;
}

static void forget(struct name *name)
{
    egress_question_free(name->question);
    free(name->host);
    *name = (struct name){.host = NULL};
}

void egress_net_free(struct egress_net *net)
{
    struct sigpipe held;
    size_t i;

    if (net == NULL) {
        return;
    }
    sigpipe_hold(&held); /* TLS says farewell */
    while (net->idle_count > 0) {
        net->lib->easy_cleanup(net->idle[--net->idle_count]);
    }
    if (net->multi != NULL) {
        (void)net->lib->multi_cleanup(net->multi);
    }
    sigpipe_release(&held);
    for (i = 0; i < EGRESS_NAMES_MAX; i++) {
        forget(&net->names[i]);
    }
    free(net->sockets);
    free(net);
}

const struct libcurl *egress_net_lib(const struct egress_net *net)
{
    return net->lib;
}

void egress_net_expect_tls(struct egress_net *net)
{
    net->may_have_tls = 1;
}

CURL *egress_net_take(struct egress_net *net)
{
    return net->idle_count > 0 ? net->idle[--net->idle_count] : net->lib->easy_init();
}

void egress_net_give_back(struct egress_net *net, CURL *easy)
{
    if (net->idle_count < IDLE_MAX) {
        net->lib->easy_reset(easy);
        net->idle[net->idle_count++] = easy;
    } else {
        net->lib->easy_cleanup(easy);
    }
}

int egress_net_add(struct egress_net *net, CURL *easy)
{
    return net->lib->multi_add_handle(net->multi, easy) == CURLM_OK ? 0 : -1;
}

void egress_net_remove(struct egress_net *net, CURL *easy)
{
    struct sigpipe held;

    if (!net->may_have_tls) {
        (void)net->lib->multi_remove_handle(net->multi, easy);
        return;
    }
    sigpipe_hold(&held); /* it may close a connection, with a word of TLS */
    (void)net->lib->multi_remove_handle(net->multi, easy);
    sigpipe_release(&held);
}

/* ---- turns ---- */

size_t egress_net_sockets(const struct egress_net *net, struct pollfd *ret, size_t max)
{
    size_t n = net->sockets_count < max ? net->sockets_count : max;

    if (n > 0) {
        memcpy(ret, net->sockets, n * sizeof(*ret));
    }
    return n;
}

uint64_t egress_net_deadline_us(const struct egress_net *net)
{
    return net->timer_us;
}

static int actions_of(short events)
{
    return ((events & POLLIN) != 0 ? CURL_CSELECT_IN : 0) |
           ((events & POLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
           ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? CURL_CSELECT_ERR : 0);
}

static void take_ends(struct egress_net *net)
{
    struct egress_end *end;
    CURLMsg *m;
    int left;

    while ((m = net->lib->multi_info_read(net->multi, &left)) != NULL) {
        end = NULL;
        if (m->msg == CURLMSG_DONE &&
            net->lib->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&end) == CURLE_OK &&
            end != NULL) {
            end->is_done = 1;
            end->code = m->data.result;
        }
    }
}

void egress_net_turn(struct egress_net *net, const struct pollfd *sockets, size_t count)
{
    struct sigpipe held;
    int running = 0, i;
    size_t k;

    if (net->may_have_tls) {
        sigpipe_hold(&held);
    }
    for (k = 0; k < count; k++) {
        if (sockets[k].revents != 0) {
            (void)net->lib->multi_socket_action(
                net->multi, sockets[k].fd, actions_of(sockets[k].revents), &running);
        }
    }
    for (i = 0; i < DUE_MAX && net->timer_us <= clock_now_us(); i++) {
        net->timer_us = UINT64_MAX;
        (void)net->lib->multi_socket_action(net->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    take_ends(net);
    if (net->may_have_tls) {
        sigpipe_release(&held);
    }
}

/* ---- names ---- */

static struct name *find(struct egress_net *net, const char *host)
{
    size_t i;

    for (i = 0; i < EGRESS_NAMES_MAX; i++) {
        if (net->names[i].host != NULL && strcmp(net->names[i].host, host) == 0) {
            return &net->names[i];
        }
    }
    return NULL;
}

/* A free place, or the oldest answer's. */
static struct name *find_place(struct egress_net *net)
{
    struct name *best = NULL;
    size_t i;

    for (i = 0; i < EGRESS_NAMES_MAX; i++) {
        struct name *n = &net->names[i];

        if (n->host == NULL) {
            return n;
        }
        if (n->state != EGRESS_PENDING && (best == NULL || n->until_us < best->until_us)) {
            best = n;
        }
    }
    return best;
}

static struct name *ask(struct egress_net *net, const char *host)
{
    struct name *n = find_place(net);

    if (n == NULL) {
        return NULL;
    }
    forget(n);
    n->host = strdup(host);
    n->question = n->host != NULL ? egress_question_new(host, net->wake_fd) : NULL;
    n->state = EGRESS_PENDING;
    if (n->question == NULL) {
        forget(n);
        return NULL;
    }
    return n;
}

enum egress_resolved egress_net_resolve(struct egress_net *net, const char *host,
    struct net_address ret[EGRESS_ADDRESSES_MAX], size_t *ret_count)
{
    struct name *n = find(net, host);
    uint64_t now = clock_now_us();

    if (n != NULL && n->state != EGRESS_PENDING && now >= n->until_us) {
        forget(n);
        n = NULL;
    }
    n = n != NULL ? n : ask(net, host);
    if (n == NULL) {
        return EGRESS_CROWDED;
    }
    if (n->state == EGRESS_PENDING) {
        n->state = egress_question_look(n->question, n->addresses, &n->count);
        if (n->state == EGRESS_PENDING) {
            return EGRESS_PENDING;
        }
        egress_question_free(n->question);
        n->question = NULL;
        n->until_us = now + (n->state == EGRESS_RESOLVED ? EGRESS_NAME_US : EGRESS_UNKNOWN_US);
    }
    if (n->state == EGRESS_RESOLVED) {
        memcpy(ret, n->addresses, n->count * sizeof(ret[0]));
        *ret_count = n->count;
    }
    return n->state;
}
