/* test_egress_net.c - what the requests of a run share: a transfer that is driven by turns, and
 * names that are asked for once. */
#include "host/egress_net.h"

#include <netdb.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "http_server.h"

int __wrap_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret);
int __real_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret);

static int asked_count; /* atomic */

int __wrap_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    (void)__atomic_add_fetch(&asked_count, 1, __ATOMIC_RELAXED);
    return strcmp(name, "none.test") == 0 ? EAI_NONAME
                                          : __real_getaddrinfo("127.0.0.1", service, hints, ret);
}

static struct egress_net *net;
static int wake_fd;

static int start(void **state)
{
    struct vial_error err;

    (void)state;
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return wake_fd < 0 ? -1 : egress_net_new(wake_fd, &net, &err);
}

static int stop(void **state)
{
    (void)state;
    egress_net_free(net);
    return close(wake_fd);
}

static size_t ignore(char *bytes, size_t size, size_t n, void *user)
{
    (void)bytes;
    (void)user;
    return size * n;
}

/* Sleeps as the thread of a run does. */
static void turn_until(const struct egress_end *end)
{
    uint64_t until = clock_now_us() + 5000000, next;
    struct pollfd p[EGRESS_SOCKETS_MAX];
    size_t n;

    while (!end->is_done && clock_now_us() < until) {
        n = egress_net_sockets(net, p, EGRESS_SOCKETS_MAX);
        next = egress_net_deadline_us(net);
        (void)poll(p, n, next <= clock_now_us() ? 0 : 10);
        egress_net_turn(net, p, n);
    }
}

static void a_transfer_goes_on_in_turns(void **state)
{
    struct http_server *server =
        http_server_new(http_serve_text, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    const struct libcurl *lib = egress_net_lib(net);
    struct egress_end end = {.is_done = 0};
    CURL *easy = egress_net_take(net);
    char url[64];
    long status = 0;

    (void)state;
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", server->port);
    assert_non_null(easy);
    assert_int_equal(lib->easy_setopt(easy, CURLOPT_URL, url), CURLE_OK);
    assert_int_equal(lib->easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore), CURLE_OK);
    assert_int_equal(lib->easy_setopt(easy, CURLOPT_PRIVATE, &end), CURLE_OK);
    assert_int_equal(egress_net_add(net, easy), 0);
    turn_until(&end);
    assert_true(end.is_done);
    assert_int_equal(end.code, CURLE_OK);
    assert_int_equal(lib->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status), CURLE_OK);
    assert_int_equal(status, 200);
    egress_net_remove(net, easy);
    egress_net_give_back(net, easy);
    assert_ptr_equal(egress_net_take(net), easy); /* which is used again, without its options */
    egress_net_give_back(net, easy);
    http_server_free(server);
}

static enum egress_resolved wait_for(const char *name, struct net_address *ret, size_t *count)
{
    struct pollfd p = {.fd = wake_fd, .events = POLLIN};
    enum egress_resolved r;
    uint64_t times;

    while ((r = egress_net_resolve(net, name, ret, count)) == EGRESS_PENDING) {
        assert_int_equal(poll(&p, 1, 5000), 1);
        assert_int_equal(read(wake_fd, &times, sizeof(times)), sizeof(times));
    }
    return r;
}

static void a_name_is_asked_for_once(void **state)
{
    struct net_address addresses[EGRESS_ADDRESSES_MAX];
    size_t count = 0;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        assert_int_equal(wait_for("one.test", addresses, &count), EGRESS_RESOLVED);
        assert_int_equal(count, 1);
        assert_int_equal(wait_for("none.test", addresses, &count), EGRESS_UNKNOWN);
    }
    assert_int_equal(__atomic_load_n(&asked_count, __ATOMIC_RELAXED), 2);
}

static void names_have_so_many_places(void **state)
{
    struct net_address addresses[EGRESS_ADDRESSES_MAX];
    char name[32];
    size_t count;
    int i;

    (void)state;
    for (i = 0; i < 2 * EGRESS_NAMES_MAX; i++) { /* the oldest answers make room */
        (void)snprintf(name, sizeof(name), "n%d.test", i);
        assert_int_equal(wait_for(name, addresses, &count), EGRESS_RESOLVED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transfer_goes_on_in_turns),
        cmocka_unit_test(a_name_is_asked_for_once),
        cmocka_unit_test(names_have_so_many_places),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
