/* tool_exec_check.c - what an operator may write as a tool that is a program; see tool_exec.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "host/tool_exec.h"

/* Can this file be executed? 0, or an errno. */
static int probe(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        return errno;
    }
    if (!S_ISREG(st.st_mode)) {
        return EACCES;
    }
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* Tries one folder of PATH. Folders that are not absolute are passed over: they would mean another
 * program in another directory. */
static int probe_in(const char *folder, size_t len, const char *name, char *path, size_t size)
{
    int n;

    if (len == 0 || folder[0] != '/') {
        return ENOENT;
    }
    n = snprintf(path, size, "%.*s/%s", (int)len, folder, name);
    if (n < 0 || (size_t)n >= size) {
        return ENAMETOOLONG;
    }
    return probe(path);
}

int tool_exec_find(const struct tool_exec *tool, char *path, size_t size)
{
    const char *name = tool->command[0];
    const char *folders = TOOL_EXEC_PATH;
    int sys = ENOENT;
    size_t i, len;
    int found;

    if (name[0] == '/') {
        if (strlen(name) >= size) {
            return ENAMETOOLONG;
        }
        memcpy(path, name, strlen(name) + 1);
        return probe(path);
    }
    for (i = 0; i < tool->env_count; i++) {
        if (strncmp(tool->env[i], "PATH=", 5) == 0) {
            folders = tool->env[i] + 5;
        }
    }
    for (;;) {
        len = strcspn(folders, ":");
        found = probe_in(folders, len, name, path, size);
        if (found == 0) {
            return 0;
        }
        sys = found == ENOENT || found == ENOTDIR ? sys : found; /* the telling one */
        if (folders[len] == '\0') {
            return sys;
        }
        folders += len + 1;
    }
}

/* Bounds a list of words; what is "the command" or "the environment". */
static int check_words(
    const char *const *words, size_t count, const char *what, struct vial_error *err)
{
    size_t bytes = 0;
    size_t i;

    if (count > TOOL_EXEC_WORDS_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "%s of the tool has %zu words; it may have %d", what,
            count, TOOL_EXEC_WORDS_MAX);
    }
    for (i = 0; i < count; i++) {
        bytes += strnlen(words[i], TOOL_EXEC_BYTES_MAX + 1) + 1; /* count bounds the sum */
        if (bytes > TOOL_EXEC_BYTES_MAX) {
            return vial__fail(err, VIAL_E_INVALID, "%s of the tool is longer than %d bytes", what,
                TOOL_EXEC_BYTES_MAX);
        }
    }
    return VIAL_OK;
}

static int is_name(char c, int first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

/* Messages name a variable by its place: it may be a secret that lacks its name. */
static int check_env(const struct tool_exec *tool, struct vial_error *err)
{
    size_t i, j, len;

    for (i = 0; i < tool->env_count; i++) {
        for (len = 0; is_name(tool->env[i][len], len == 0); len++) {
        }
        if (len == 0 || tool->env[i][len] != '=') {
            return vial__fail(err, VIAL_E_INVALID,
                "variable %zu of the environment of the tool is not written as \"NAME=value\"",
                i + 1);
        }
        for (j = 0; j < i; j++) { /* programs differ in which of two they believe */
            if (strncmp(tool->env[i], tool->env[j], len + 1) == 0) {
                return vial__fail(err, VIAL_E_INVALID, "the environment of the tool has %.*s twice",
                    (int)(len < 100 ? len : 100), tool->env[i]);
            }
        }
    }
    return VIAL_OK;
}

static int check_places(const struct tool_exec *tool, struct vial_error *err)
{
    const char *name = tool->command[0];
    char path[PATH_MAX];
    struct stat st;
    int sys;

    if (name[0] == '\0' || (name[0] != '/' && strchr(name, '/') != NULL)) {
        return vial__fail(err, VIAL_E_INVALID,
            "the program of the tool is \"%.100s\": it has to be an absolute path, or a name "
            "without slashes to look for in PATH",
            name);
    }
    sys = tool_exec_find(tool, path, sizeof(path));
    if (sys != 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "the program of the tool, \"%.100s\", cannot be executed: %s", name,
            strerrordesc_np(sys));
    }
    if (tool->cwd != NULL && tool->cwd[0] != '/') {
        return vial__fail(err, VIAL_E_INVALID,
            "the directory of the tool, \"%.100s\", is not an absolute path", tool->cwd);
    }
    if (tool->cwd != NULL && (stat(tool->cwd, &st) < 0 || !S_ISDIR(st.st_mode))) {
        return vial__fail(
            err, VIAL_E_INVALID, "the directory of the tool, \"%.100s\", is not there", tool->cwd);
    }
    return VIAL_OK;
}

int tool_exec_check(const struct tool_exec *tool, struct vial_error *err)
{
    int r;

    if (tool->command_count == 0) {
        return vial__fail(err, VIAL_E_INVALID, "the tool has no command");
    }
    r = check_words(tool->command, tool->command_count, "the command", err);
    if (r == 0) {
        r = check_words(tool->env, tool->env_count, "the environment", err);
    }
    if (r == 0) {
        r = check_env(tool, err);
    }
    return r == 0 ? check_places(tool, err) : r;
}
