/* report.c - see report.h. */
#include "cli/report.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "wire/field.h"

int report_exit_code(int status)
{
    static const int codes[] = {
        [VIAL_STATUS_OK] = EXIT_FINE,
        [VIAL_STATUS_EXCEPTION] = EXIT_EXCEPTION,
        [VIAL_STATUS_WALL_LIMIT] = EXIT_WALL_LIMIT,
        [VIAL_STATUS_CPU_LIMIT] = EXIT_CPU_LIMIT,
        [VIAL_STATUS_MEMORY_LIMIT] = EXIT_MEMORY_LIMIT,
        [VIAL_STATUS_OUTPUT_LIMIT] = EXIT_OUTPUT_LIMIT,
        [VIAL_STATUS_CALL_LIMIT] = EXIT_CALL_LIMIT,
        [VIAL_STATUS_DISK_LIMIT] = EXIT_DISK_LIMIT,
        [VIAL_STATUS_DENIED] = EXIT_DENIED,
        [VIAL_STATUS_CANCELLED] = EXIT_CANCELLED,
        [VIAL_STATUS_CRASHED] = EXIT_CRASHED,
    };

    return status >= 0 && (size_t)status < sizeof(codes) / sizeof(codes[0]) ? codes[status]
                                                                            : EXIT_OUR_FAILURE;
}

void report_safe(const char *text)
{
    report_safe_to(stderr, text);
}

void report_safe_to(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        unsigned char next = (unsigned char)text[1];

        if (c == 0xc2 && next >= 0x80 && next <= 0x9f) {
            (void)fprintf(to, "\\x%02x", next);
            text++;
        } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
            (void)fprintf(to, "\\x%02x", c);
        } else {
            (void)fputc(c, to);
        }
    }
}

void report_error_only(const struct vial_result *result, const char *name)
{
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;

    vial_result_error(result, &e);
    if (e.name == NULL) {
        return;
    }
    if (e.line != 0 && e.source_line != NULL) {
        report_safe(e.file != NULL ? e.file : name);
        (void)fprintf(stderr, ":%u\n", e.line);
        report_safe(e.source_line);
        (void)fprintf(
            stderr, "\n%*s\n\n", (int)(e.column < 200 ? e.column : 200), e.column != 0 ? "^" : "");
    }
    if (e.stack != NULL && e.stack[0] != '\0') {
        report_safe(e.stack);
    } else {
        report_safe(e.name);
        (void)fputs(": ", stderr);
        report_safe(e.message);
    }
    (void)fputc('\n', stderr);
}

void report_error(const struct vial_result *result, const char *name)
{
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;

    report_error_only(result, name);
    vial_result_error(result, &e);
    if (e.name != NULL && e.hint != NULL) {
        (void)fputs("hint: ", stderr);
        report_safe(e.hint);
        (void)fputc('\n', stderr);
    }
}

void report_findings(FILE *to, const struct vial_result *result)
{
    size_t i, count = vial_result_finding_count(result);

    for (i = 0; i < count; i++) {
        struct vial_finding f = VIAL_FINDING_INIT;

        if (vial_result_finding(result, i, &f) < 0) {
            continue;
        }
        report_safe_to(to, f.file);
        (void)fprintf(to, ":%u:%u: %s: ", f.line, f.column, vial_severity_name((int)f.severity));
        report_safe_to(to, f.message);
        (void)fputs(" (", to);
        report_safe_to(to, f.id);
        (void)fputs(")\n", to);
        if (f.text[0] != '\0') {
            (void)fputs("    ", to);
            report_safe_to(to, f.text);
            (void)fputc('\n', to);
        }
        (void)fputs("    advice: ", to);
        report_safe_to(to, f.advice);
        (void)fputc('\n', to);
    }
}

int report_is_about_rules(const struct vial_result *result)
{
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;

    vial_result_error(result, &e);
    return e.name != NULL && strcmp(e.name, SCAN_RULES_ERROR) == 0;
}

void report_dropped(const struct vial_result *result)
{
    static const char *const names[] = {"stdout", "stderr"};
    uint64_t dropped;
    size_t len;
    int i;

    for (i = 0; i < 2; i++) {
        (void)vial_result_output(result, i == 0 ? VIAL_STDOUT : VIAL_STDERR, &len, &dropped);
        if (dropped > 0) {
            (void)fprintf(stderr,
                "vial: %s was cut after %zu bytes, %llu more were dropped; --%s-bytes raises the "
                "limit\n",
                names[i], len, (unsigned long long)dropped, names[i]);
        }
    }
}
