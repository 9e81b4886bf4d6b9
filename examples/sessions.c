/* sessions.c - a session that is prepared once and kept as a checkpoint, three branches of it that
 * try something at the same time, and the way back from a try that went wrong.
 *
 * cc sessions.c $(pkg-config --cflags --libs vial) -pthread -o sessions */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <vial.h>

enum { TRIES = 3 };

static const char PREPARE[] =
    "const rows = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1000);\n"
    "let counted = 0;\n"
    "const smaller = (a, b) => { counted++; return a - b; };\n"
    "rows.length";

/* What the branches try, each with the same rows. */
static const char *const PROGRAMS[TRIES] = {
    "rows.sort(smaller); counted > 0 && rows[1]",
    "rows.filter((x, i) => rows.indexOf(x) === i).length",
    "while (rows.length > 0) rows.push(rows.shift());",
};

struct attempt {
    struct vial_session *session;
    const char *source;
    char said[512];
};

/* Evaluates a program and writes down what came of it. */
static void evaluate(struct attempt *attempt)
{
    struct vial_result_error why = VIAL_RESULT_ERROR_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result;
    struct vial_error err;
    const char *value;

    limits.wall_ms_max = 500; /* of this evaluation */
    request.limits = &limits;
    request.source = attempt->source;
    request.source_len = strlen(attempt->source);
    if (vial_session_eval(attempt->session, &request, &result, &err) < 0) {
        snprintf(attempt->said, sizeof(attempt->said), "%s", err.text);
        return;
    }
    vial_result_error(result, &why);
    value = vial_result_value(result, NULL);
    snprintf(attempt->said, sizeof(attempt->said), "%s: %s (the session %s)",
        vial_status_name(vial_result_status(result)),
        value != NULL         ? value
        : why.message != NULL ? why.message
                              : "undefined",
        vial_result_session_lives(result) ? "lives" : "has ended");
    vial_result_free(result);
}

static void *evaluate_in_thread(void *user)
{
    evaluate(user);
    return NULL;
}

/* Tries all programs at once, each in its own branch of the checkpoint. */
static int try_all(struct vial_session *checkpoint, struct vial_error *err)
{
    struct vial_session *branches[TRIES];
    struct attempt attempts[TRIES];
    pthread_t threads[TRIES];
    int started, i;

    if (vial_session_branch(checkpoint, TRIES, branches, err) < 0) {
        return -1;
    }
    for (started = 0; started < TRIES; started++) {
        attempts[started] =
            (struct attempt){.session = branches[started], .source = PROGRAMS[started]};
        if (pthread_create(&threads[started], NULL, evaluate_in_thread, &attempts[started]) != 0) {
            break;
        }
    }
    for (i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        printf("branch %d  %s\n", i + 1, attempts[i].said);
    }
    for (i = 0; i < TRIES; i++) {
        vial_session_free(branches[i]);
    }
    return 0;
}

/* Goes on in a branch, finds that it was a mistake, and goes on from the checkpoint instead. */
static int roll_back(struct vial_session *checkpoint, struct vial_error *err)
{
    struct attempt mistake = {.source = "rows.length = 0; counted = -1; rows.length"};
    struct attempt again = {.source = "[rows.length, counted]"};

    if (vial_session_branch(checkpoint, 1, &mistake.session, err) < 0) {
        return -1;
    }
    evaluate(&mistake);
    printf("mistake   %s\n", mistake.said);
    vial_session_free(mistake.session);
    if (vial_session_branch(checkpoint, 1, &again.session, err) < 0) {
        return -1;
    }
    evaluate(&again);
    printf("again     %s\n", again.said);
    vial_session_free(again.session);
    return 0;
}

int main(void)
{
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;
    struct attempt prepare = {.source = PREPARE};
    struct vial_engine *engine;
    struct vial_error err;
    int r;

    options.for_sessions = 1;
    if (vial_engine_new(&options, &engine, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    r = vial_session_new(engine, NULL, &prepare.session, &err);
    if (r == 0) {
        evaluate(&prepare);
        printf("prepared  %s\n", prepare.said);
        r = try_all(prepare.session, &err);
        r = r < 0 ? r : roll_back(prepare.session, &err);
        vial_session_free(prepare.session);
    }
    if (r < 0) {
        fprintf(stderr, "%s\n", err.text);
    }
    vial_engine_free(engine);
    return r < 0;
}
