/* waiting.c - threads that wait for a guest without the GIL, and how Ctrl-C reaches them.
 *
 * Python's handler of SIGINT only notes the signal; the exception is raised when the main thread is
 * back in Python, which would be at the end of the run. So while somebody waits, a handler of ours
 * stands before Python's: it calls that one, and cancels what the main thread waits for. What other
 * threads wait for cannot be looked at in a handler: a number is added to an event, and a thread of
 * the package that waits for it decides, with the GIL. */
#include "binding.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct waiting *volatile main_waiting; /* the innermost one of the main thread */
static unsigned waiting_count;                /* in all threads; of runs and sessions */
static struct sigaction python_action;        /* what our handler stands before */
static volatile int interrupt_fd = -1;        /* that event */
static PyObject *taken[3]; /* an exception of an inline tool, for the main thread */

void waiting_cancel(struct waiting *w)
{
    if (w->run != NULL) {
        vial_run_cancel(w->run);
    }
    if (w->session != NULL) {
        vial_session_cancel(w->session);
    }
}

/* The thread that a process began with; in the child of a fork, the one that forked. Python's idea
 * of the main thread is the same. */
static int is_main_thread(void)
{
    return syscall(SYS_gettid) == getpid();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    static const uint64_t one = 1;
    int saved = errno;

    if ((python_action.sa_flags & SA_SIGINFO) != 0) {
        python_action.sa_sigaction(number, info, context);
    } else if (python_action.sa_handler != SIG_IGN && python_action.sa_handler != SIG_DFL) {
        python_action.sa_handler(number);
    }
    if (is_main_thread()) {
        for (struct waiting *w = main_waiting; w != NULL; w = w->next_main) {
            waiting_cancel(w);
        }
        if (interrupt_fd >= 0 && write(interrupt_fd, &one, sizeof(one)) < 0) {
            /* the number is as high as it can be; who waits for it will see it */
        }
    } else {
        (void)syscall(SYS_tgkill, getpid(), getpid(), number);
    }
    errno = saved;
}

static int is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_signal;
}

/* A SIGINT that is ignored, or that ends the process, stays what it is. */
static void install(void)
{
    struct sigaction ours, now;

    memset(&ours, 0, sizeof(ours));
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigemptyset(&ours.sa_mask);
    if (sigaction(SIGINT, NULL, &now) < 0 || is_ours(&now) ||
        ((now.sa_flags & SA_SIGINFO) == 0 &&
            (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))) {
        return;
    }
    python_action = now;
    (void)sigaction(SIGINT, &ours, NULL);
}

static void uninstall(void)
{
    struct sigaction now;

    if (sigaction(SIGINT, NULL, &now) == 0 && is_ours(&now)) { /* else somebody has set another */
        (void)sigaction(SIGINT, &python_action, NULL);
    }
}

/* In a child of a fork nobody waits, and the event is the parent's. */
void interrupt_setup(void)
{
    main_waiting = NULL;
    waiting_count = 0;
    uninstall();
    if (interrupt_fd >= 0) {
        (void)close(interrupt_fd);
        interrupt_fd = -1;
    }
}

int interrupt_open(void)
{
    if (interrupt_fd < 0) {
        interrupt_fd = eventfd(0, EFD_CLOEXEC);
    }
    return interrupt_fd;
}

void waiting_begin(struct waiting *w)
{
    struct engine_object *engine = w->engine;

    w->next = engine->waiting;
    w->prev = NULL;
    if (w->next != NULL) {
        w->next->prev = w;
    }
    engine->waiting = w;
    engine->waiting_count++;
    Py_INCREF((PyObject *)engine);
    w->waiter = pthread_self();
    w->is_counted = w->run != NULL || w->session != NULL;
    w->is_main = w->is_counted && is_main_thread();
    if (w->is_main) {
        w->next_main = main_waiting;
        main_waiting = w;
    }
    if (w->is_counted && (waiting_count++ == 0 || w->is_main)) {
        install();
    }
    w->thread = PyEval_SaveThread();
}

int waiting_end(struct waiting *w)
{
    struct engine_object *engine = w->engine;

    PyEval_RestoreThread(w->thread);
    if (w->is_main) {
        main_waiting = w->next_main;
    }
    if (w->is_counted && --waiting_count == 0) {
        uninstall();
    }
    if (w->prev != NULL) {
        w->prev->next = w->next;
    } else {
        engine->waiting = w->next;
    }
    if (w->next != NULL) {
        w->next->prev = w->prev;
    }
    engine->waiting_count--;
    Py_DECREF((PyObject *)engine);
    if (w->is_main && taken[0] != NULL) {
        PyErr_Restore(taken[0], taken[1], taken[2]);
        memset(taken, 0, sizeof(taken));
        return -1;
    }
    return w->is_main ? PyErr_CheckSignals() : 0;
}

int waiting_take_exception(void)
{
    if (!is_main_thread() || main_waiting == NULL || taken[0] != NULL) {
        return 0;
    }
    PyErr_Fetch(&taken[0], &taken[1], &taken[2]);
    waiting_cancel(main_waiting);
    return 1;
}
