/* interrupt.c - see interrupt.h. */
#include "cell/js/interrupt.h"

#include <assert.h>
#include <stddef.h>

#include "cell/js/traps.h"

static struct traps traps;
static JSGlobalContextRef context; /* NULL: there is no soft stop */
static volatile sig_atomic_t is_armed;
static volatile sig_atomic_t is_fired;

static void on_signal(int number)
{
    (void)number;
    interrupt_now();
}

int interrupt_prepare(JSGlobalContextRef ctx)
{
    if (traps_find(ctx, &traps) < 0) {
        return -1;
    }
    context = ctx;
    return 0;
}

void interrupt_listen(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(FRAME_STOP_SIGNAL, &action, NULL);
}

void interrupt_now(void)
{
    if (is_armed) {
        is_fired = 1;
        traps_set(&traps);
    }
}

void interrupt_begin(void)
{
    assert(!is_armed);
    is_fired = 0;
    is_armed = context != NULL;
}

int interrupt_happened(void)
{
    return is_fired != 0;
}

void interrupt_pass_on(JSValueRef *exception)
{
    if (is_armed && is_fired) {
        *exception = NULL;
        traps_set(&traps);
        traps_take(&traps);
    }
}

/* A call of the engine that does nothing by itself. An end that came while promises went on is
 * still being thrown, for want of somebody to tell; this takes it. When the call comes back,
 * promises go on, or are dropped while that is forbidden. */
static void settle(void)
{
    (void)JSValueToNumber(context, JSValueMakeNumber(context, 0), NULL);
}

int interrupt_end(void)
{
    is_armed = 0; /* from here on the switches are only ours */
    if (!is_fired) {
        return 0;
    }
    traps_clear(&traps);
    settle(); /* what was to go on is dropped, if that has not happened yet */
    traps_allow(&traps);
    settle();
    return 1;
}
