/* serve_config.c - see serve_config.h. */
#include "cli/serve_config.h"

#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "cli/cli.h"
#include "cli/env.h"
#include "http/log.h"
#include "store/run_store.h"

enum {
    FILES_MAX = 100, /* of vial.conf.d */
    PATH_BYTES = 4096,
    WORD_BYTES = 64,
};

#define DEFAULT_FILE "/etc/vial/vial.conf"
#define SECTION "serve"

enum kind { KIND_LISTEN, KIND_PATH, KIND_NUMBER, KIND_SIZE, KIND_FLAG, KIND_LEVEL };

struct setting {
    const char *key;
    enum kind kind;
    size_t offset;
    const char *by_default;
    uint64_t min, max;
    const char *help;
};

#define AT(member) offsetof(struct http_options, member)

/* The table that files, flags, help and --print-config are made from. */
static const struct setting SETTINGS[] = {
    {"listen", KIND_LISTEN, 0, "127.0.0.1:8700", 0, 0,
        "ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; several with commas"},
    {"data_dir", KIND_PATH, AT(data_dir), NULL, 0, 0, "where everything is kept"},
    {"tls_certificate", KIND_PATH, AT(tls_certificate), "", 0, 0, "a PEM file; with it, TLS"},
    {"tls_key", KIND_PATH, AT(tls_key), "", 0, 0, "the PEM file with its key"},
    {"insecure_local", KIND_FLAG, AT(insecure_local), "no", 0, 0,
        "no key is needed on loopback addresses"},
    {"unix_trust", KIND_FLAG, AT(unix_trust), "yes", 0, 0,
        "no key is needed for the same user on a Unix socket"},
    {"playground", KIND_FLAG, AT(playground), "yes", 0, 0, "GET / serves the playground"},
    {"workers", KIND_NUMBER, AT(workers), "16", 1, 1024, "programs at the same time"},
    {"queue_max", KIND_NUMBER, AT(queue_max), "1024", 1, 100000, "runs that may wait"},
    {"queue_key_max", KIND_NUMBER, AT(queue_key_max), "1024", 1, 100000,
        "runs of one key that may wait"},
    {"pool", KIND_NUMBER, AT(pool), "8", 1, 256, "cells kept ready"},
    {"sessions_max", KIND_NUMBER, AT(sessions_max), "64", 1, 1024, "sessions at the same time"},
    {"memory_max", KIND_SIZE, AT(memory_bytes_max), "16G", 64 << 20, UINT64_C(1) << 46,
        "sum of the memory limits of what runs"},
    {"connections_max", KIND_NUMBER, AT(connections_max), "4096", 1, 100000, "open connections"},
    {"connections_per_address_max", KIND_NUMBER, AT(connections_per_address_max), "0", 0, 100000,
        "of one client address; 0: as many as there may be"},
    {"header_max", KIND_SIZE, AT(header_bytes_max), "32K", 8 << 10, 1 << 20,
        "memory for the headers of a request"},
    {"body_max", KIND_SIZE, AT(body_bytes_max), "32M", 1 << 10, 1 << 30, "body of a request"},
    {"idle_s", KIND_NUMBER, AT(idle_s), "60", 1, 86400, "until an idle connection is closed"},
    {"receive_s", KIND_NUMBER, AT(receive_s), "30", 1, 3600,
        "in which a whole request has to arrive"},
    {"grace_s", KIND_NUMBER, AT(grace_s), "20", 0, 3600, "for what runs when the server stops"},
    {"heartbeat_s", KIND_NUMBER, AT(heartbeat_s), "15", 1, 3600,
        "between signs of life in streams"},
    {"kept_max", KIND_SIZE, AT(kept_bytes_max), "256M", 1 << 20, UINT64_C(1) << 40,
        "results and events of ended runs in memory"},
    {"kept_runs_max", KIND_NUMBER, AT(kept_runs_max), "10000", 16, 1000000, "ended runs in memory"},
    {"events_max", KIND_SIZE, AT(events_bytes_max), "4M", 4 << 10, 256 << 20,
        "output kept as events of one run"},
    {"runs_days", KIND_NUMBER, AT(runs_days), "30", 1, 36500, "runs are stored"},
    {"outputs_run_max", KIND_SIZE, AT(outputs_run_bytes_max), "64M", 0, UINT64_C(1) << 40,
        "files and artifacts of one run on the disk; 0: none"},
    {"outputs_max", KIND_SIZE, AT(outputs_bytes_max), "1G", 0, UINT64_C(1) << 46,
        "those of all runs; the oldest go first"},
    {"recording_max", KIND_SIZE, AT(recording_bytes_max), "16M", 0, RUN_RECORDING_BYTES_MAX,
        "the recording of one run that asks for it; 0: none"},
    {"recordings_max", KIND_SIZE, AT(recordings_bytes_max), "1G", 0, UINT64_C(1) << 46,
        "those of all runs; the oldest go first"},
    {"audit_days", KIND_NUMBER, AT(audit_days), "0", 0, 36500,
        "records of the audit are kept; 0: for ever"},
    {"audit_required", KIND_FLAG, AT(audit_required), "no", 0, 0,
        "nothing runs that cannot be recorded"},
    {"callback_private", KIND_FLAG, AT(callback_private), "no", 0, 0,
        "callbacks may go to addresses that are not public"},
    {"compat_private", KIND_FLAG, AT(compat_private), "no", 0, 0,
        "so may backends of JSCodeSandbox's environments"},
    {"log_level", KIND_LEVEL, AT(log_level), "info", 0, 0, "error, warn, info or debug"},
};

enum { COUNT = sizeof(SETTINGS) / sizeof(SETTINGS[0]) };

/* ---- one value ---- */

static const struct setting *find(const char *key)
{
    size_t i;

    for (i = 0; i < COUNT; i++) {
        if (strcmp(SETTINGS[i].key, key) == 0) {
            return &SETTINGS[i];
        }
    }
    return NULL;
}

static char *keep(struct serve_config *config, const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL || config->texts_count == sizeof(config->texts) / sizeof(config->texts[0])) {
        free(copy);
        return NULL;
    }
    config->texts[config->texts_count++] = copy;
    return copy;
}

static int set_listen(struct serve_config *config, const char *value, char *why, size_t size)
{
    char *text = keep(config, value), *at, *comma;

    config->options.listen_count = 0;
    for (at = text; at != NULL; at = comma != NULL ? comma + 1 : NULL) {
        comma = strchr(at, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        while (*at == ' ') {
            at++;
        }
        if (config->options.listen_count == LISTEN_MAX || *at == '\0') {
            (void)snprintf(why, size, "takes 1 to %d addresses", LISTEN_MAX);
            return -1;
        }
        config->options.listen[config->options.listen_count++] = at;
    }
    return text != NULL ? 0 : -1;
}

static int set_number(
    struct http_options *o, const struct setting *s, const char *value, char *why, size_t size)
{
    char digits[WORD_BYTES];
    size_t len = strlen(value);
    uint64_t n = 0, factor = 1;

    if (s->kind == KIND_SIZE && len > 0 && strchr("KMG", value[len - 1]) != NULL) {
        factor = value[len - 1] == 'K' ? 1 << 10 : value[len - 1] == 'M' ? 1 << 20 : 1 << 30;
        len--;
    }
    (void)snprintf(digits, sizeof(digits), "%.*s", (int)len, value);
    if (len >= sizeof(digits) || cli_number(digits, &n) < 0 ||
        __builtin_mul_overflow(n, factor, &n) || n < s->min || n > s->max) {
        (void)snprintf(why, size, "takes a number from %llu to %llu%s", (unsigned long long)s->min,
            (unsigned long long)s->max, s->kind == KIND_SIZE ? ", also with K, M or G" : "");
        return -1;
    }
    if (strstr(s->key, "_max") != NULL && s->kind == KIND_SIZE &&
        s->offset != AT(header_bytes_max)) {
        memcpy((char *)o + s->offset, &n, sizeof(n));
    } else {
        uint32_t small = (uint32_t)n;

        memcpy((char *)o + s->offset, &small, sizeof(small));
    }
    return 0;
}

/* 0, or -1 with what is wrong as the rest of a sentence. */
static int set_value(
    struct serve_config *config, const struct setting *s, const char *value, char *why, size_t size)
{
    struct http_options *o = &config->options;
    uint32_t flag;
    char *text;
    int level;

    switch (s->kind) {
    case KIND_LISTEN:
        return set_listen(config, value, why, size);
    case KIND_PATH:
        text = value[0] != '\0' ? keep(config, value) : NULL;
        memcpy((char *)o + s->offset, &text, sizeof(text));
        return 0;
    case KIND_FLAG:
        flag = strcmp(value, "yes") == 0;
        if (!flag && strcmp(value, "no") != 0) {
            (void)snprintf(why, size, "takes yes or no");
            return -1;
        }
        memcpy((char *)o + s->offset, &flag, sizeof(flag));
        return 0;
    case KIND_LEVEL:
        level = log_level_of(value);
        if (level < 0) {
            (void)snprintf(why, size, "takes error, warn, info or debug");
            return -1;
        }
        o->log_level = (uint32_t)level;
        return 0;
    case KIND_NUMBER:
    case KIND_SIZE:
        break;
    }
    return set_number(o, s, value, why, size);
}

static int apply(
    struct serve_config *config, const struct setting *s, const char *value, const char *source)
{
    char why[160] = "cannot be kept";

    if (set_value(config, s, value, why, sizeof(why)) < 0) {
        return cli_fail(EXIT_CONFIG, "%s: %s %s, not \"%s\"", source, s->key, why, value);
    }
    (void)snprintf(config->sources[s - SETTINGS], SERVE_SOURCE_BYTES, "%s", source);
    return 0;
}

/* ---- files ---- */

struct reading {
    struct serve_config *config;
    const char *path;
    int code;
};

static int on_line(void *user, const char *section, const char *name, const char *value)
{
    struct reading *r = user;
    const struct setting *s = find(name);
    char source[SERVE_SOURCE_BYTES];
    size_t i;

    if (r->code != 0) {
        return 0;
    }
    if (strcmp(section, SECTION) != 0) {
        r->code = cli_fail(
            EXIT_CONFIG, "%s: there is no section [%s], only [" SECTION "]", r->path, section);
        return 0;
    }
    if (s == NULL) {
        const char *keys[COUNT + 1];
        const char *near;

        for (i = 0; i < COUNT; i++) {
            keys[i] = SETTINGS[i].key;
        }
        keys[COUNT] = NULL;
        near = near_word(name, keys);
        r->code = cli_fail(EXIT_CONFIG, "%s: there is no setting \"%s\"%s%s%s", r->path, name,
            near != NULL ? "; did you mean " : "", near != NULL ? near : "",
            near != NULL ? "?" : "");
        return 0;
    }
    (void)snprintf(source, sizeof(source), "%.290s", r->path);
    r->code = apply(r->config, s, value, source);
    return r->code == 0;
}

/* 0, or an exit code; a file that is not there is fine when it need not be. */
static int read_file(struct serve_config *config, const char *path, int must_exist)
{
    struct reading r = {.config = config, .path = path};
    int line;

    if (access(path, F_OK) < 0 && errno == ENOENT && !must_exist) {
        return 0;
    }
    line = ini_parse(path, on_line, &r);
    if (r.code != 0) {
        return r.code;
    }
    if (line < 0) {
        return cli_fail(EXIT_CONFIG, "cannot read %s: %s", path, strerrordesc_np(errno));
    }
    return line == 0 ? 0
                     : cli_fail(EXIT_CONFIG, "%s, line %d: this is no NAME = VALUE", path, line);
}

static int is_conf(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return len > 5 && entry->d_name[0] != '.' && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

/* vial.conf, and then vial.conf.d/?*.conf by name. */
static int read_files(struct serve_config *config, const char *path, int must_exist)
{
    char directory[PATH_BYTES], name[PATH_BYTES * 2];
    struct dirent **list = NULL;
    int i, count, code = read_file(config, path, must_exist);

    if (code != 0) {
        return code;
    }
    (void)snprintf(directory, sizeof(directory), "%s.d", path);
    count = scandir(directory, &list, is_conf, alphasort);
    for (i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "%s/%s", directory, list[i]->d_name);
        code = code != 0 ? code
               : i >= FILES_MAX
                   ? cli_fail(EXIT_CONFIG, "%s has more than %d files", directory, FILES_MAX)
                   : read_file(config, name, 1);
        free(list[i]);
    }
    free(list);
    return code;
}

/* ---- all of it ---- */

static int read_environment(struct serve_config *config)
{
    char name[WORD_BYTES];
    size_t i, j;
    int code = 0;

    for (i = 0; i < COUNT && code == 0; i++) {
        const char *value;

        (void)snprintf(name, sizeof(name), "VIAL_SERVE_%s", SETTINGS[i].key);
        for (j = 0; name[j] != '\0'; j++) {
            name[j] = name[j] >= 'a' && name[j] <= 'z' ? (char)(name[j] - 'a' + 'A') : name[j];
        }
        value = getenv(name);
        value =
            value == NULL && strcmp(SETTINGS[i].key, "log_level") == 0 ? getenv("VIAL_LOG") : value;
        if (value != NULL) {
            code = apply(config, &SETTINGS[i], value, name);
        }
    }
    return code;
}

static int check(const struct serve_config *config)
{
    const struct http_options *o = &config->options;

    if ((o->tls_certificate == NULL) != (o->tls_key == NULL)) {
        return cli_fail(EXIT_CONFIG, "tls_certificate and tls_key belong together");
    }
    return 0;
}

int serve_config_read(struct serve_config *config, const char *path, const struct serve_flag *flags,
    size_t flags_count)
{
    char directory[PATH_BYTES];
    size_t i;
    int code = 0;

    memset(config, 0, sizeof(*config));
    for (i = 0; i < COUNT && code == 0; i++) {
        if (SETTINGS[i].by_default != NULL) {
            code = apply(config, &SETTINGS[i], SETTINGS[i].by_default, "default");
        }
    }
    if (code == 0) {
        code = read_files(config, path != NULL ? path : DEFAULT_FILE, path != NULL);
    }
    code = code != 0 ? code : read_environment(config);
    for (i = 0; i < flags_count && code == 0; i++) {
        code = apply(config, find(flags[i].key), flags[i].value, "flag");
    }
    if (code == 0 && config->options.data_dir == NULL) {
        code = env_data_dir(NULL, directory, sizeof(directory));
        code = code != 0 ? code : apply(config, find("data_dir"), directory, "default");
    }
    code = code != 0 ? code : check(config);
    if (code != 0) {
        serve_config_release(config);
    }
    return code;
}

void serve_config_release(struct serve_config *config)
{
    size_t i;

    for (i = 0; i < config->texts_count; i++) {
        free(config->texts[i]);
    }
    config->texts_count = 0;
}

static void print_value(const struct http_options *o, const struct setting *s)
{
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    uint32_t small;
    uint64_t large;
    const char *text;
    size_t i;

    memcpy(&small, (const char *)o + s->offset, sizeof(small));
    switch (s->kind) {
    case KIND_LISTEN:
        for (i = 0; i < o->listen_count; i++) {
            (void)printf("%s%s", i > 0 ? "," : "", o->listen[i]);
        }
        break;
    case KIND_PATH:
        memcpy(&text, (const char *)o + s->offset, sizeof(text));
        (void)printf("%s", text != NULL ? text : "");
        break;
    case KIND_FLAG:
        (void)printf("%s", small != 0 ? "yes" : "no");
        break;
    case KIND_LEVEL:
        (void)printf("%s", levels[small]);
        break;
    case KIND_NUMBER:
        (void)printf("%u", small);
        break;
    case KIND_SIZE:
        memcpy(&large, (const char *)o + s->offset, sizeof(large));
        large = s->offset == AT(header_bytes_max) ? small : large;
        (void)printf("%llu", (unsigned long long)large);
        break;
    }
}

void serve_config_print(const struct serve_config *config)
{
    size_t i;

    (void)printf("[" SECTION "]\n");
    for (i = 0; i < COUNT; i++) {
        (void)printf("%s = ", SETTINGS[i].key);
        print_value(&config->options, &SETTINGS[i]);
        (void)printf("  ; %s\n", config->sources[i]);
    }
}

/* ---- flags ---- */

static const char *flag_text(const struct setting *s)
{
    static char flags[COUNT][WORD_BYTES];
    char *text = flags[s - SETTINGS];
    size_t i;

    (void)snprintf(text, WORD_BYTES, "--%s", s->key);
    for (i = 2; text[i] != '\0'; i++) {
        text[i] = text[i] == '_' ? '-' : text[i];
    }
    return text;
}

const char *serve_config_key(const char *flag, int *ret_is_plain)
{
    size_t i;

    for (i = 0; i < COUNT; i++) {
        if (strcmp(flag, flag_text(&SETTINGS[i])) == 0) {
            *ret_is_plain = SETTINGS[i].kind == KIND_FLAG;
            return SETTINGS[i].key;
        }
    }
    return NULL;
}

const char *const *serve_config_flags(void)
{
    static const char *flags[COUNT + 5];
    size_t i;

    for (i = 0; i < COUNT; i++) {
        flags[i] = flag_text(&SETTINGS[i]);
    }
    flags[i++] = "--config";
    flags[i++] = "--check-config";
    flags[i++] = "--print-config";
    flags[i++] = "--help";
    flags[i] = NULL;
    return flags;
}

void serve_config_help(void)
{
    size_t i;

    for (i = 0; i < COUNT; i++) {
        (void)printf("  %-31s %s (%s)\n", flag_text(&SETTINGS[i]), SETTINGS[i].help,
            SETTINGS[i].by_default == NULL      ? "as for `vial env`"
            : SETTINGS[i].by_default[0] == '\0' ? "none"
                                                : SETTINGS[i].by_default);
    }
}
