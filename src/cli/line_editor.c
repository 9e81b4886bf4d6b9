/* line_editor.c - see line_editor.h.
 *
 * libedit's own way of reading a character starts again when a signal comes, and with its handling
 * of signals on it wants them all. So it gets a function of ours, which returns on a signal and
 * says why afterwards. */
#include "cli/line_editor.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/history_file.h"
#include "cli/libedit.h"

enum {
    LINE_BYTES_MAX = 1 << 20,
    LISTED_MAX = 200, /* candidates that are shown; the rest is counted */
};

static struct libedit lib;
static EditLine *editor; /* NULL without libedit */
static History *entries;
static struct history_file file;
static line_complete_fn complete_word;
static void *complete_user;
static const char *prompt_now = "";
static struct buf line;     /* without libedit: what was read */
static size_t given_up_len; /* of the line that a signal ended */

/* ---- signals ---- */

static volatile sig_atomic_t interrupted, terminated, resized, continued;

static void on_signal(int number)
{
    interrupted |= number == SIGINT;
    terminated |= number == SIGTERM || number == SIGHUP;
    resized |= number == SIGWINCH;
    continued |= number == SIGCONT;
}

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT};
enum { SIGNALS_COUNT = sizeof(SIGNALS) / sizeof(SIGNALS[0]) };
static struct sigaction before[SIGNALS_COUNT];

static void take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    size_t i;

    interrupted = terminated = 0;
    for (i = 0; i < SIGNALS_COUNT; i++) {
        (void)sigaction(SIGNALS[i], &action, &before[i]);
    }
}

static void give_signals_back(void)
{
    size_t i;

    for (i = 0; i < SIGNALS_COUNT; i++) {
        (void)sigaction(SIGNALS[i], &before[i], NULL);
    }
}

/* ---- characters ---- */

/* One byte: 1, 0 at the end, -1 when a signal is to end the line. A signal that comes between the
 * look at the flags and the wait is let in by ppoll only. */
static int read_byte(char *ret)
{
    struct pollfd p = {.fd = 0, .events = POLLIN};
    sigset_t ours, others;
    ssize_t n;
    size_t i;
    int r;

    (void)sigemptyset(&ours);
    for (i = 0; i < SIGNALS_COUNT; i++) {
        (void)sigaddset(&ours, SIGNALS[i]);
    }
    (void)pthread_sigmask(SIG_BLOCK, &ours, &others);
    for (;;) {
        if (editor != NULL && resized) {
            lib.el_resize(editor);
        }
        if (editor != NULL && continued) { /* whoever had the terminal meanwhile has changed it */
            (void)lib.el_set(editor, EL_PREP_TERM, 0);
            (void)lib.el_set(editor, EL_PREP_TERM, 1);
            (void)lib.el_set(editor, EL_REFRESH);
        }
        resized = continued = 0;
        if (interrupted || terminated) {
            r = -1;
            break;
        }
        r = ppoll(&p, 1, NULL, &others);
        if (r < 0 && errno == EINTR) {
            continue;
        }
        n = r > 0 ? read(0, ret, 1) : -1; /* short counts handled */
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        r = n > 0; /* a terminal that has gone is the end */
        break;
    }
    (void)pthread_sigmask(SIG_SETMASK, &others, NULL);
    return r;
}

static int read_character(EditLine *el, wchar_t *ret)
{
    mbstate_t state = {0};
    char byte;
    size_t n;
    int r;

    for (;;) {
        r = read_byte(&byte);
        if (r <= 0) {
            given_up_len = (size_t)(lib.el_line(el)->lastchar - lib.el_line(el)->buffer);
            return r;
        }
        n = mbrtowc(ret, &byte, 1, &state);
        if (n == (size_t)-1) { /* no UTF-8: passed over */
            state = (mbstate_t){0};
        } else if (n != (size_t)-2) {
            return 1; /* n is 0 for a NUL, which is a character here */
        }
    }
}

/* ---- completion ---- */

static size_t terminal_width(void)
{
    struct winsize size;

    return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* The candidates in columns below the line. */
static void list_words(const struct buf *words)
{
    size_t count = completion_count(words);
    size_t shown = count < LISTED_MAX ? count : LISTED_MAX;
    size_t widest = 0, columns, rows, at, i, row;
    const char *word[LISTED_MAX];

    for (at = 0, i = 0; i < shown; i++) {
        word[i] = words->data + at;
        widest = strlen(word[i]) > widest ? strlen(word[i]) : widest;
        at += strlen(word[i]) + 1;
    }
    columns = terminal_width() / (widest + 2);
    columns = columns > 0 ? columns : 1;
    rows = (shown + columns - 1) / columns;
    (void)fputc('\n', stdout);
    for (row = 0; row < rows; row++) {
        for (i = row; i < shown; i += rows) {
            (void)printf("%-*s", i + rows < shown ? (int)widest + 2 : 0, word[i]);
        }
        (void)fputc('\n', stdout);
    }
    if (shown < count) {
        (void)printf("and %zu more\n", count - shown);
    }
    (void)fflush(stdout);
}

static unsigned char on_tab(EditLine *el, int key)
{
    const LineInfo *info = lib.el_line(el);
    size_t cursor = (size_t)(info->cursor - info->buffer);
    struct buf words;
    size_t start, common;
    unsigned char answer = CC_ERROR;

    (void)key;
    buf_init(&words, COMPLETION_BYTES_MAX);
    start = complete_word(info->buffer, cursor, &words, complete_user);
    common = completion_common(&words);
    if (start == cursor && words.len == 0) {
        answer = lib.el_insertstr(el, "    ") < 0 ? CC_ERROR : CC_REFRESH;
    } else if (common > cursor - start) {
        words.data[common] = '\0';
        answer = lib.el_insertstr(el, words.data + (cursor - start)) < 0 ? CC_ERROR : CC_REFRESH;
    } else if (completion_count(&words) > 1) {
        list_words(&words);
        answer = CC_REDISPLAY;
    }
    buf_release(&words);
    return answer;
}

/* ---- */

static char *get_prompt(EditLine *el)
{
    static char text[128];

    (void)el;
    (void)snprintf(text, sizeof(text), "%s", prompt_now);
    return text;
}

static void remember_loaded(const char *entry, size_t len, void *user)
{
    HistEvent event;

    (void)len;
    (void)user;
    (void)lib.history(entries, &event, H_ENTER, entry);
}

/* Text is UTF-8 here whatever else the locale says. */
static void set_locale(void)
{
    (void)setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1) {
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    }
}

int line_editor_open(line_complete_fn complete, void *user)
{
    struct vial_error err;
    HistEvent event;

    complete_word = complete;
    complete_user = user;
    buf_init(&line, LINE_BYTES_MAX);
    set_locale();
    history_file_init(&file);
    if (libedit_load("libedit.so.2", &lib, &err) < 0) {
        return cli_fail(1, "%s", err.text);
    }
    editor = lib.el_init("vial", stdin, stdout, stderr);
    entries = lib.history_init();
    if (editor == NULL || entries == NULL) {
        line_editor_close();
        return cli_fail(1, "line editing does not work here");
    }
    (void)lib.history(entries, &event, H_SETSIZE, HISTORY_ENTRIES_MAX);
    (void)lib.history(entries, &event, H_SETUNIQUE, 1); /* the same again is one entry */
    (void)lib.el_set(editor, EL_HIST, lib.history, entries);
    (void)lib.el_set(editor, EL_EDITOR, "emacs");
    (void)lib.el_set(editor, EL_PROMPT, get_prompt);
    (void)lib.el_set(editor, EL_GETCFN, read_character);
    /* Wide: libedit 3.1 makes copies of narrow ones and never frees them. */
    (void)lib.el_wset(editor, EL_ADDFN, L"vial-complete", L"Completes a name", on_tab);
    (void)lib.el_set(editor, EL_BIND, "^I", "vial-complete", NULL);
    (void)lib.el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    (void)lib.el_source(editor, NULL); /* what the user has in ~/.editrc */
    history_file_load(&file, remember_loaded, NULL);
    return 0;
}

void line_editor_close(void)
{
    if (editor != NULL) {
        lib.el_end(editor);
        editor = NULL;
    }
    if (entries != NULL) {
        lib.history_end(entries);
        entries = NULL;
    }
    buf_release(&line);
}

/* Without libedit: up to the end of the line. */
static int read_plain(const char **ret, size_t *ret_len)
{
    char byte;
    int r;

    (void)fputs(prompt_now, stdout);
    (void)fflush(stdout);
    buf_clear(&line);
    for (;;) {
        r = read_byte(&byte);
        if (r < 0 || (r == 0 && line.len == 0)) {
            given_up_len = line.len;
            return r;
        }
        if (r == 0 || byte == '\n') {
            break;
        }
        if (buf_add(&line, &byte, 1, NULL) < 0) {
            return 0;
        }
    }
    *ret = line.len > 0 ? line.data : "";
    *ret_len = line.len;
    return 1;
}

enum line_event line_editor_read(const char *prompt, const char **ret, size_t *ret_len)
{
    const char *text = NULL;
    size_t len = 0;
    int count = 0;

    prompt_now = prompt;
    take_signals();
    if (editor != NULL) {
        /* Before the prompt is shown: who sees it may type, and is echoed twice otherwise. */
        (void)lib.el_set(editor, EL_PREP_TERM, 1);
        text = lib.el_gets(editor, &count);
        len = text != NULL && count > 0 ? (size_t)count : 0;
        text = len > 0 ? text : NULL;
        len -= len > 0 && text[len - 1] == '\n';
    } else if (read_plain(&text, &len) <= 0) {
        text = NULL;
    }
    give_signals_back();
    if (terminated) {
        return LINE_TERMINATED;
    }
    if (interrupted) {
        (void)fputs("^C\n", stdout);
        (void)fflush(stdout);
        *ret_len = given_up_len;
        return LINE_INTERRUPTED;
    }
    if (text == NULL) {
        return LINE_END;
    }
    *ret = text;
    *ret_len = len;
    return LINE_TEXT;
}

void line_editor_remember(const char *entry, size_t len)
{
    HistEvent event;
    char *text;

    if (entries == NULL || len == 0 || len > HISTORY_ENTRY_BYTES_MAX) {
        return;
    }
    text = strndup(entry, len);
    if (text != NULL) {
        (void)lib.history(entries, &event, H_ENTER, text);
        (void)history_file_add(&file, entry, len);
    }
    free(text);
}
