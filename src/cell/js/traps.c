/* traps.c - see traps.h.
 *
 * The library exports a few members of the two classes in question, VM and its part VMTraps, and
 * those that matter here only compare and set fields. Called with a block of known bytes in place
 * of the real object they leave marks in it, and the marks are the places of the fields. What was
 * found is then tried on the real engine, in every way that could go wrong later. All this happens
 * in a copy of the process: should another version of the library not like it, the copy dies and
 * there is no soft stop.
 *
 * Two neighbours are taken from the order in which the class declares them (`stopping` comes behind
 * the byte that says that an exception is put off, `requested` before `forbidden`), because no
 * exported member marks them; trying them is what proves them. */
#include "cell/js/traps.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "cell/js/native.h"
#include "jail/fork.h"

enum {
    DUMMY_BYTES = 256 * 1024, /* the real object has 132 KiB in version 2.50 */
    DUMMY_TRAPS = 16 * 1024,  /* its part VMTraps has little in front of it, and all else behind */
    WORD_BYTES = 8,
    MARKS_MAX = 16,      /* bytes; no call leaves more than 10 */
    HEAD_BYTES = 4096,   /* the pending exception is among the first members */
    TRY_SECONDS_MAX = 2, /* for the copy; it needs some milliseconds */

    /* Fillings for the dummy: no flag may be 0, and of the bit for a pending exception (16) once it
     * must be set and once not. */
    FILL_SET = 0x12,
    FILL_UNSET = 0x02,

    DEFER_FOR_A_WHILE = 0,
    DEFER_UNTIL_END = 1,
};

/* What the library exports without a header; NULL in a library that has it no more. The lock is the
 * one that every call of the engine's interface takes. */
extern void JSLock(JSContextRef ctx) __attribute__((weak));
extern void JSUnlock(JSContextRef ctx) __attribute__((weak));
extern void *vm_ensure_exception(void *vm) __asm__("_ZN3JSC2VM26ensureTerminationExceptionEv")
    __attribute__((weak));
extern _Bool vm_has_exception(void *vm) __asm__("_ZN3JSC2VM31hasExceptionsAfterHandlingTrapsEv")
    __attribute__((weak));
extern void traps_defer(void *traps, int action) __asm__(
    "_ZN3JSC7VMTraps20deferTerminationSlowENS0_11DeferActionE") __attribute__((weak));
extern void traps_undo_defer(void *traps, int action) __asm__(
    "_ZN3JSC7VMTraps24undoDeferTerminationSlowENS0_11DeferActionE") __attribute__((weak));

/* Where things lie, from the beginning of the VM on. */
struct offsets {
    ptrdiff_t traps; /* the part VMTraps */
    ptrdiff_t bits, stopping, requested, forbidden;
};

/* The bytes of a dummy that a call has changed. */
struct marks {
    unsigned count;
    ptrdiff_t at[MARKS_MAX];
    char byte[MARKS_MAX];
};

/* What the trial in the copy works on; functions that the engine calls have no other way to it. */
static struct {
    char *vm;
    struct offsets at;
    struct traps traps;
    unsigned after_count; /* calls that must not happen */
    int ok;
} trial;

static char *vm_of(JSGlobalContextRef ctx)
{
    JSContextGroupRef group = JSContextGetGroup(ctx); /* in this interface the group is the VM */
    char *vm;

    memcpy(&vm, &group, sizeof(vm));
    return vm;
}

static struct traps traps_at(char *vm, const struct offsets *at)
{
    uintptr_t base = (uintptr_t)vm;

    return (struct traps){
        .vm = vm,
        .bits = (uint32_t *)(base + (uintptr_t)at->bits),
        .stopping = (uint8_t *)(base + (uintptr_t)at->stopping),
        .requested = (uint8_t *)(base + (uintptr_t)at->requested),
        .forbidden = (uint8_t *)(base + (uintptr_t)at->forbidden),
    };
}

/* The place of the pending exception: the word that makes a dummy of zeros have one. The mark is a
 * bit that as part of any other field means nothing. */
static ptrdiff_t find_exception(char *dummy)
{
    ptrdiff_t found = -1;
    ptrdiff_t at;

    for (at = 0; at < HEAD_BYTES && found < 0; at += WORD_BYTES) {
        dummy[at + WORD_BYTES - 1] = (char)0x80;
        if (vm_has_exception(dummy)) {
            found = at;
        }
        dummy[at + WORD_BYTES - 1] = 0;
    }
    return found;
}

/* Looks for what was done to a dummy that had been filled with one byte. More marks than fit are
 * as good as none. */
static void find_marks(const char *dummy, int fill, struct marks *marks)
{
    char untouched[WORD_BYTES];
    ptrdiff_t at, i;

    memset(untouched, fill, sizeof(untouched));
    marks->count = 0;
    for (at = 0; at < DUMMY_BYTES; at += WORD_BYTES) {
        if (memcmp(dummy + at, untouched, sizeof(untouched)) == 0) {
            continue;
        }
        for (i = at; i < at + WORD_BYTES; i++) {
            if (dummy[i] != (char)fill) {
                if (marks->count == MARKS_MAX) {
                    marks->count = 0;
                    return;
                }
                marks->at[marks->count] = i;
                marks->byte[marks->count++] = dummy[i];
            }
        }
    }
}

/* The first place where this byte was left, when it was left length times in a row and nowhere
 * else; -1 when not. */
static ptrdiff_t mark_of(const struct marks *marks, int byte, ptrdiff_t length)
{
    ptrdiff_t first = -1;
    ptrdiff_t found = 0;
    unsigned i;

    for (i = 0; i < marks->count; i++) {
        if (marks->byte[i] == (char)byte) {
            first = found == 0 ? marks->at[i] : first;
            if (marks->at[i] != first + found) {
                return -1;
            }
            found++;
        }
    }
    return found == length ? first : -1;
}

static int find_offsets(struct offsets *ret)
{
    char *dummy =
        mmap(NULL, DUMMY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ptrdiff_t exception, exception_mark, bits, suspended, forbidden, base;
    struct marks marks;

    if (dummy == MAP_FAILED) {
        return -1;
    }
    exception = find_exception(dummy);

    /* Putting off takes the exception away, and with it its bit, and notes that. */
    memset(dummy, FILL_SET, DUMMY_BYTES);
    traps_defer(dummy + DUMMY_TRAPS, DEFER_FOR_A_WHILE);
    find_marks(dummy, FILL_SET, &marks);
    exception_mark = mark_of(&marks, 0, WORD_BYTES);
    bits = mark_of(&marks, FILL_UNSET, 1);
    suspended = mark_of(&marks, 1, 1);

    /* The end of that is the reverse, and promises get forbidden because this dummy wants it. */
    memset(dummy, FILL_UNSET, DUMMY_BYTES);
    traps_undo_defer(dummy + DUMMY_TRAPS, DEFER_UNTIL_END);
    find_marks(dummy, FILL_UNSET, &marks);
    forbidden = mark_of(&marks, 1, 1);
    if (exception < 0 || exception_mark < 0 || bits < 0 || suspended < 0 || forbidden < 0 ||
        mark_of(&marks, FILL_SET, 1) != bits || mark_of(&marks, 0, 1) != suspended) {
        return -1;
    }
    base = exception_mark - exception; /* where in the dummy the VM would begin */
    *ret = (struct offsets){.traps = DUMMY_TRAPS - base,
        .bits = bits - base,
        .stopping = suspended + 1 - base,
        .requested = forbidden - 1 - base,
        .forbidden = forbidden - base};
    return ret->traps > 0 && ret->bits % (ptrdiff_t)sizeof(uint32_t) == 0 ? 0 : -1;
}

/* Asks for the end of what is evaluated and then goes the ways of the engine where it insists on
 * the other switches. */
NATIVE(trial_step)
{
    const struct traps *t = &trial.traps;
    char *traps = trial.vm + trial.at.traps;

    NATIVE_UNUSED;
    (void)argc;
    (void)argv;
    traps_set(t);
    trial.ok = vm_has_exception(trial.vm) && *t->bits != 0 && (*t->bits & TRAPS_TERMINATE) == 0 &&
               *t->stopping == 0; /* both were seen, and taken back */
    traps_defer(traps, DEFER_FOR_A_WHILE);
    trial.ok = trial.ok && !vm_has_exception(trial.vm);
    traps_undo_defer(traps, DEFER_UNTIL_END);
    trial.ok = trial.ok && vm_has_exception(trial.vm);
    return JSValueMakeUndefined(ctx);
}

NATIVE(trial_set)
{
    NATIVE_UNUSED;
    (void)argc;
    (void)argv;
    traps_set(&trial.traps);
    return JSValueMakeUndefined(ctx);
}

NATIVE(trial_after)
{
    NATIVE_UNUSED;
    (void)argc;
    (void)argv;
    trial.after_count++;
    return JSValueMakeUndefined(ctx);
}

/* Did the text run to its end? */
static int ends_well(JSGlobalContextRef ctx, const char *text)
{
    JSStringRef source = JSStringCreateWithUTF8CString(text);
    JSValueRef value = JSEvaluateScript(ctx, source, NULL, NULL, 1, NULL);

    JSStringRelease(source);
    return value != NULL;
}

static int try_all(JSGlobalContextRef ctx)
{
    static const struct native_row rows[] = {
        {"step", trial_step}, {"set", trial_set}, {"after", trial_after}};
    JSStringRef name;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        name = JSStringCreateWithUTF8CString(rows[i].name);
        JSObjectSetProperty(ctx, JSContextGetGlobalObject(ctx), name,
            JSObjectMakeFunctionWithCallback(ctx, name, rows[i].function), kJSPropertyAttributeNone,
            NULL);
        JSStringRelease(name);
    }
    trial.traps = traps_at(trial.vm, &trial.at);
    if (*trial.traps.bits != 0 || *trial.traps.stopping != 0 || *trial.traps.requested != 0 ||
        *trial.traps.forbidden != 0) {
        return 0;
    }
    if (ends_well(ctx, "try { step(); for (;;); } catch { after() } finally { after() }") ||
        !trial.ok || trial.after_count != 0) {
        return 0;
    }
    traps_clear(&trial.traps);
    if (ends_well(ctx, "Promise.resolve().then(after); set(); (function f() { for (;;) f() })()")) {
        return 0;
    }
    traps_clear(&trial.traps);
    traps_allow(&trial.traps);
    return trial.after_count == 0 && ends_well(ctx, "Promise.resolve().then(after)") &&
           trial.after_count == 1;
}

/* In the copy. */
static _Noreturn void try_in_copy(JSGlobalContextRef ctx, struct offsets *ret)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    const struct rlimit none = {0, 0};
    sigset_t nothing;

    (void)setrlimit(RLIMIT_CORE, &none);
    (void)sigaction(SIGALRM, &standard, NULL);
    (void)sigemptyset(&nothing);
    (void)sigprocmask(SIG_SETMASK, &nothing, NULL);
    (void)alarm(TRY_SECONDS_MAX);
    if (find_offsets(&trial.at) < 0 || !try_all(ctx)) {
        _exit(1);
    }
    *ret = trial.at;
    _exit(0);
}

int traps_find(JSGlobalContextRef ctx, struct traps *ret)
{
    struct offsets *shared;
    int pidfd = -1;
    int status = -1;
    pid_t pid;

    if (vm_ensure_exception == NULL || vm_has_exception == NULL || traps_defer == NULL ||
        traps_undo_defer == NULL || JSLock == NULL || JSUnlock == NULL) {
        return -1;
    }
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return -1;
    }
    trial.vm = vm_of(ctx);
    JSLock(ctx);
    (void)vm_ensure_exception(trial.vm); /* what will be thrown must exist before */
    JSUnlock(ctx);
    pid = fork_clone(0, &pidfd);
    if (pid == 0) {
        try_in_copy(ctx, shared);
    }
    if (pid > 0) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        fd_closep(&pidfd);
    }
    if (status == 0) {
        *ret = traps_at(trial.vm, shared);
    }
    (void)munmap(shared, sizeof(*shared));
    return status == 0 ? 0 : -1;
}

void traps_take(const struct traps *t)
{
    (void)vm_has_exception(t->vm);
}
