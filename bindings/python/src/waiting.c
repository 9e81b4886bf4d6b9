/* waiting.c - threads that wait for a guest without the GIL, and how Ctrl-C reaches them.
 *
 * Python's handler of SIGINT only notes the signal; the exception is raised when the main thread is
 * back in Python, which would be at the end of the run. So while the main thread waits, a handler
 * of ours stands before Python's: it calls that one, and cancels what is waited for. */
#include "binding.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static pthread_t main_thread;
static struct waiting *volatile main_waiting; /* the innermost one of the main thread */
static struct sigaction python_action;        /* what our handler stands before */
static int is_installed;
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

static void on_signal(int number, siginfo_t *info, void *context)
{
    if ((python_action.sa_flags & SA_SIGINFO) != 0) {
        python_action.sa_sigaction(number, info, context);
    } else if (python_action.sa_handler != SIG_IGN && python_action.sa_handler != SIG_DFL) {
        python_action.sa_handler(number);
    }
    if (pthread_equal(pthread_self(), main_thread)) {
        for (struct waiting *w = main_waiting; w != NULL; w = w->next_main) {
            waiting_cancel(w);
        }
        return;
    }
    (void)pthread_kill(main_thread, number);
}

/* A SIGINT that is ignored, or that ends the process, stays what it is. */
static void install(void)
{
    struct sigaction ours;

    memset(&ours, 0, sizeof(ours));
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigemptyset(&ours.sa_mask);
    if (sigaction(SIGINT, NULL, &python_action) < 0 ||
        ((python_action.sa_flags & SA_SIGINFO) == 0 &&
            (python_action.sa_handler == SIG_DFL || python_action.sa_handler == SIG_IGN))) {
        return;
    }
    is_installed = sigaction(SIGINT, &ours, NULL) == 0;
}

static void uninstall(void)
{
    struct sigaction now;

    if (is_installed && sigaction(SIGINT, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
        now.sa_sigaction == on_signal) { /* else somebody has set another one meanwhile */
        (void)sigaction(SIGINT, &python_action, NULL);
    }
    is_installed = 0;
}

/* In a child of a fork, the thread that forked is the main one now, and waits for nothing here. */
void interrupt_setup(void)
{
    main_thread = pthread_self();
    main_waiting = NULL;
    uninstall();
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
    w->is_main = pthread_equal(w->waiter, main_thread);
    w->is_main = w->is_main && (w->run != NULL || w->session != NULL);
    if (w->is_main) {
        w->next_main = main_waiting;
        main_waiting = w;
        if (w->next_main == NULL) {
            install();
        }
    }
    w->thread = PyEval_SaveThread();
}

int waiting_end(struct waiting *w)
{
    struct engine_object *engine = w->engine;

    PyEval_RestoreThread(w->thread);
    if (w->is_main) {
        main_waiting = w->next_main;
        if (main_waiting == NULL) {
            uninstall();
        }
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
    if (!pthread_equal(pthread_self(), main_thread) || main_waiting == NULL || taken[0] != NULL) {
        return 0;
    }
    PyErr_Fetch(&taken[0], &taken[1], &taken[2]);
    waiting_cancel(main_waiting);
    return 1;
}
