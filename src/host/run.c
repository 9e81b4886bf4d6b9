/* run.c - one run: a cell is taken, told what to run, listened to (drive.c), and ended. Whatever
 * happens, the cell's process is dead or has a deadly signal pending before the result is given
 * out. */
#include "host/run.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "host/drive.h"
#include "host/env.h"
#include "host/fetch.h"
#include "host/modules.h"
#include "host/request.h"
#include "host/result.h"
#include "host/run_files.h"
#include "host/start.h"
#include "policy/limits.h"
#include "policy/process.h"
#include "wire/field.h"

enum {
    TOGETHER_BYTES_MAX = 256 * 1024, /* a longer message is written and read at the same time */
    MODULES_LOOK_BYTES = 4096,       /* programs say at their beginning what they need */
    MODULES_US = 10 * 1000 * 1000,   /* who has modules will have some more */
    LONGER_BYTES_MIN = 400,          /* of a program that is more than a few lines */
    KEEP_BYTES = 256 * 1024,         /* a larger receive buffer is given back after the run */
    DATA_MARGIN_SHARE = 16, /* of the memory limit: page tables, and pages that were shared */
    DATA_MARGIN_BYTES = 1 << 20,
    CPU_GRACE_S = 2, /* the kernel's own processor limit is so much later than ours */
};

/* The kernel's processor limit: the second lock behind our own clock. In a session it is moved for
 * every program, which only the soft one can be: nobody but a true root may raise the hard one, and
 * the filter gives no guest a way to raise either. */
static int limit_cpu(const struct vial_run *run, const struct cell *cell)
{
    rlim_t cpu_s =
        run->limits.cpu_ms_max / 1000 + (rlim_t)(cell->cpu_us_base / 1000000) + CPU_GRACE_S;
    struct rlimit cpu = {.rlim_cur = cpu_s, .rlim_max = cpu_s};
    struct rlimit now;

    if (run->session != NULL) {
        if (prlimit(cell->pid, RLIMIT_CPU, NULL, &now) < 0) {
            return -1;
        }
        cpu.rlim_max = now.rlim_max;
        cpu.rlim_cur = cpu_s < now.rlim_max ? cpu_s : now.rlim_max;
    }
    return prlimit(cell->pid, RLIMIT_CPU, &cpu, NULL);
}

/* An engine that maps no more than it uses finds that there is no more memory a little before the
 * limit that would end it, and can tell the program. Where the kernel does not let us, the other
 * one remains. */
static void limit_data(const struct vial_run *run, const struct cell *cell)
{
    uint64_t max = run->limits.memory_bytes_max;
    uint64_t margin = max / DATA_MARGIN_SHARE + DATA_MARGIN_BYTES;
    rlim_t data = cell->data_bytes_base + (max > margin ? max - margin : 0);
    struct rlimit limit = {.rlim_cur = data, .rlim_max = RLIM_INFINITY};

    if (cell->data_bytes_base > 0) {
        (void)prlimit(cell->pid, RLIMIT_DATA, &limit, NULL);
    }
}

int run_begin(struct vial_run *run, struct vial_error *err)
{
    struct cell *cell = &run->engine->cells[run->cell];
    uint64_t until_us;

    if (cgroup_slot_limit(&cell->cgroups, run->limits.memory_bytes_max) < 0) {
        return vial__fail_sys(err, errno, "setting the memory limit");
    }
    /* Without a user namespace a root that lacks CAP_SYS_RESOURCE, as in most containers, may not
     * set it for the cell's user. */
    if (limit_cpu(run, cell) < 0 && errno != ESRCH &&
        !(errno == EPERM && run->engine->report.entries[LAYER_USERNS].state == LAYER_OFF)) {
        return vial__fail_sys(err, errno, "setting the processor limit");
    }
    limit_data(run, cell);
    cell->phase = PHASE_RUNNING;
    if (!cell->spec.hurry &&
        run->request.source_len + run->request.input_len < TOGETHER_BYTES_MAX) {
        drive_sit_together(run);
    }
    run->started_us = clock_now_us();
    run->memory_next_us = run->started_us + MEMORY_POLL_US;
    until_us = run->started_us + run->limits.wall_ms_max * 1000ULL;
    if ((files_send(&run->request, cell->sock, until_us) < 0 ||
            start_send(run, cell->sock, until_us) < 0) &&
        errno != EPIPE && errno != ECONNRESET && errno != ETIMEDOUT) {
        return vial__fail_sys(err, errno, "sending the program to its cell");
    }
    /* A cell that died before, or does not read, is noticed when it is listened to. */
    return request_is_checked_late(&run->request) ? request_check_input(&run->request, err)
                                                  : VIAL_OK;
}
/* Gives the cell back; it has been killed or has ended. */
static void release_cell(struct vial_run *run, int suspicious)
{
    struct cell *cell = &run->engine->cells[run->cell];

    buf_clear(&cell->in);
    if (cell->in.capacity > KEEP_BYTES) {
        buf_release(&cell->in);
    }
    pool_give_back(run->engine, run->cell, suspicious);
    run->cell = CELL_NONE;
}

/* Finds the text of the line that an error is in, in the source that it is in. */
static void find_line(const struct vial_run *run, struct vial_result *result)
{
    const struct vial_request *q = &run->request;
    const char *file = result->error.file;
    const struct vial_module *module =
        file != NULL && file[0] != '\0' ? modules_find(q, file) : NULL;

    if (module != NULL) {
        result_find_line(result, module->source, module->source_len);
    } else if (file == NULL || file[0] == '\0') {
        result_find_line(result, q->source, q->source_len);
    }
    result_name_files(result, request_name(q));
}

void run_complete(struct vial_run *run, struct vial_result *result)
{
    find_line(run, result);
    result->usage.host_us =
        clock_now_us() - run->asked_us - result->usage.wall_us - result->usage.approval_us;
}

/* ---- the public functions ---- */

static unsigned breed_of(const struct vial_run *run)
{
    const struct vial_request *q = &run->request;

    return q->environment != NULL ? env_breed(q->environment)
                                  : engine_breed_of(q->language, q->name);
}

/* Settles what kind of cell the run is in. Those of the pool are alike: how much of files a run may
 * have is said in its start message. */
static void choose_cell(struct vial_run *run, const struct cell_spec *wanted)
{
    run->want =
        (struct cell_want){.spec = *wanted, .origin = CELL_NONE, .env = run->request.environment};
    engine_set_breed(
        &run->want.spec, run->request.environment != NULL
                             ? env_breed(run->request.environment)
                             : engine_breed_of(run->request.language, run->request.name));
    if (wanted->kind != CELL_GUEST) {
        run->want.spec.open_files_max = run->limits.open_files_max;
    }
}

/* Cells are prepared for modules while programs have some: it costs them half a megabyte. So they
 * are for programs of some length: a program of one line takes far fewer pages. */
static void note_program(struct vial_engine *engine, const struct vial_run *run)
{
    static const char *const words[] = {"import", "require", "await"};
    const struct vial_request *q = &run->request;
    size_t len = q->source_len < MODULES_LOOK_BYTES ? q->source_len : MODULES_LOOK_BYTES;
    size_t i;

    if (q->source_len >= LONGER_BYTES_MIN) {
        __atomic_store_n(&engine->longer_until_us, run->asked_us + MODULES_US, __ATOMIC_RELAXED);
    }
    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (memmem(q->source, len, words[i], strlen(words[i])) != NULL) {
            __atomic_store_n(
                &engine->modules_until_us, run->asked_us + MODULES_US, __ATOMIC_RELAXED);
            return;
        }
    }
}

/* The tools of the request, and of the environment it runs in. */
static int open_calls(struct vial_run *run, struct vial_error *err)
{
    const struct vial_request *q = &run->request;
    struct tool_set *set = NULL;
    int r = VIAL_OK;

    if (q->environment != NULL) {
        r = env_tools(q->environment, q->tools, q->tools_count, &set, err);
    } else if (q->tools_count > 0) {
        r = tool_set_new(q->tools, q->tools_count, &set, err);
        run->introduce = set;
    }
    r = r < 0 ? r
              : calls_open(run, set, q->environment != NULL ? q->environment->mounts : NULL,
                    breed_of(run), err);
    r = r < 0 ? r : fetches_open(run, q->environment, err);
    tool_set_unref(set); /* the run's calls have a reference */
    return r;
}

int run_new(struct vial_engine *engine, const struct vial_request *request, struct vial_run **ret,
    struct vial_error *err)
{
    struct vial_run *run;
    size_t known;
    int r;

    if (request == NULL || ret == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a run needs a request and a place for it");
    }
    known = request->size < sizeof(run->request) ? request->size : sizeof(run->request);
    run = calloc(1, sizeof(*run));
    if (run == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a run");
    }
    memcpy(&run->request, request, known);
    run->engine = engine;
    run->cell = CELL_NONE;
    run->pidfd = run->wake_fd = -1;
    run->calls.sock = -1;
    run->asked_us = clock_now_us();
    if (engine_breed_of(run->request.language, run->request.name) == BREED_PYTHON) {
        run->request.language = VIAL_LANGUAGE_PYTHON;
    }
    run->id = __atomic_add_fetch(&engine->run_id, 1, __ATOMIC_RELAXED);
    r = run->request.environment != NULL ? env_apply(run->request.environment, run, err)
                                         : limits_resolve(run->request.limits, &run->limits, err);
    r = r < 0 ? r : request_check(&run->request, err);
    if (r == VIAL_OK) {
        run->scan = run->scan > run->request.scan ? run->scan : run->request.scan;
        run->introduce_rules = run->request.scan_rules;
        run->introduce_rules_count = run->request.scan_rules_count;
    }
    r = r < 0 ? r : process_check(&run->request, &run->limits, err);
    if (r < 0) {
        free(run);
        return r;
    }
    *ret = run;
    return VIAL_OK;
}

int run_start_in(struct vial_engine *engine, const struct vial_request *request,
    const struct cell_spec *wanted, struct vial_run **ret, struct vial_error *err)
{
    struct vial_run *run = NULL;
    int r = run_new(engine, request, &run, err);

    if (r < 0) {
        return r;
    }
    choose_cell(run, wanted);
    r = permit_open(run,
        run->request.environment != NULL ? run->request.environment->document->permissions : NULL,
        NULL, err);
    r = r < 0 ? r : open_calls(run, err);
    if (r < 0) {
        vial_run_free(run);
        return r;
    }
    note_program(engine, run);
    if (run->scan != SCAN_OFF) {
        __atomic_store_n(&engine->scans, 1, __ATOMIC_RELAXED);
    }
    if (pool_take(engine, &run->want, 0, &run->cancelled, &run->cell, &run->pidfd, err) == 0) {
        r = run_begin(run, err);
        if (r < 0) {
            drive_end(run);
            release_cell(run, 1);
            vial_run_free(run);
            return r;
        }
    }
    *ret = run;
    return VIAL_OK;
}

int vial_run_start(struct vial_engine *engine, const struct vial_request *request,
    struct vial_run **ret, struct vial_error *err)
{
    if (engine == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a run needs an engine");
    }
    return run_start_in(engine, request, &engine->spec_default, ret, err);
}

/* The cell has said all that it will say: what it used is read, and it goes. */
static void settle(struct vial_run *run, struct vial_result *result)
{
    drive_usage(run, result);
    if (result->status == VIAL_STATUS_OK || result->status == VIAL_STATUS_EXCEPTION ||
        result->refused) {
        drive_kill(run);
    }
    run_complete(run, result);
    release_cell(run, result->status == VIAL_STATUS_CRASHED ||
                          (result->status == VIAL_STATUS_DENIED && !result->refused));
}

int vial_run_fd(const struct vial_run *run)
{
    return drive_can_try(run) ? run->engine->cells[run->cell].sock : -1;
}

int vial_run_try(struct vial_run *run, struct vial_result **ret, struct vial_error *err)
{
    int r;

    *ret = NULL;
    if (!drive_can_try(run)) {
        return VIAL_OK;
    }
    if (run->result == NULL) {
        r = result_new(&run->limits, run->engine->isolation_json, &run->result, err);
        if (r < 0) {
            return r;
        }
    }
    if (drive_try(run, run->result)) {
        settle(run, run->result);
        *ret = run->result;
        run->result = NULL;
    }
    return VIAL_OK;
}

int vial_run_wait(struct vial_run *run, struct vial_result **ret, struct vial_error *err)
{
    struct vial_engine *engine = run->engine;
    struct vial_result *result = run->result;
    int r;

    run->result = NULL;
    r = result != NULL ? VIAL_OK : result_new(&run->limits, engine->isolation_json, &result, err);
    if (r < 0) {
        return r;
    }
    if (run->cell == CELL_NONE) {
        r = env_take_cell(engine, &run->want, &run->cancelled, &run->cell, &run->pidfd, err);
        if (r == 0 && run->cell == CELL_NONE) {
            result_state(result, VIAL_STATUS_CANCELLED, "Cancelled", NULL, "the run was cancelled");
            *ret = result;
            return VIAL_OK;
        }
        r = r < 0 ? r : run_begin(run, err);
        if (r < 0) {
            vial_result_free(result);
            return r;
        }
    }
    if (__atomic_load_n(&run->cancelled, __ATOMIC_SEQ_CST)) {
        drive_kill(run); /* it came while there was no process to signal */
    }
    r = drive_run(run, result, err);
    if (r < 0) {
        vial_result_free(result);
        release_cell(run, 0);
        return r;
    }
    settle(run, result);
    *ret = result;
    return VIAL_OK;
}

void vial_run_cancel(struct vial_run *run)
{
    int pidfd;

    __atomic_store_n(&run->cancelled, 1, __ATOMIC_SEQ_CST);
    pidfd = __atomic_load_n(&run->pidfd, __ATOMIC_SEQ_CST);
    if (pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    }
}

void vial_run_free(struct vial_run *run)
{
    if (run == NULL) {
        return;
    }
    if (run->cell != CELL_NONE) { /* started and never waited for */
        drive_end(run);
        release_cell(run, 0);
    }
    calls_close(run);
    permit_close(run);
    vial_result_free(run->result);
    fd_closep(&run->pidfd);
    if (run->session == NULL) { /* else it is the session's */
        fd_closep(&run->wake_fd);
    }
    free(run);
}

int vial_run(struct vial_engine *engine, const struct vial_request *request,
    struct vial_result **ret, struct vial_error *err)
{
    struct vial_run *run = NULL;
    int r = vial_run_start(engine, request, &run, err);

    if (r < 0) {
        return r;
    }
    assert(run != NULL);
    r = vial_run_wait(run, ret, err);
    vial_run_free(run);
    return r;
}
