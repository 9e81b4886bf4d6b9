/* memfs_path.c - from a path to a place in the tree, and back; see memfs_tree.h.
 *
 * A link on the way is a text of its own, read to its end before the rest of the path that led to
 * it. These texts lie on a small stack and are never joined, so a path costs no memory, however
 * often it goes through links. In a directory that is served, a path is only text: who serves it is
 * asked once, about the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cell/memfs_tree.h"

/* A path on its way. */
struct walk {
    struct memfs *fs;
    struct memfs_node *at; /* a directory */
    struct memfs_place *place;
    enum memfs_follow follow;
    const char *texts[MEMFS_LINKS_MAX + 1]; /* what is left of each */
    unsigned depth;
    unsigned links_count;
    size_t served_len; /* of place->served, while at is served */
};

static int is_served(const struct memfs_node *node)
{
    return node != NULL && S_ISDIR(node->mode) && node->dir.served != NULL;
}

/* Takes the next part off; its length, or 0 at the end. *ret_last is 1 for the last one, 2 when
 * slashes follow it. */
static size_t next_part(struct walk *w, const char **ret, int *ret_last)
{
    size_t len = 0;
    unsigned i;

    while (w->depth > 0) {
        w->texts[w->depth - 1] += strspn(w->texts[w->depth - 1], "/");
        if (*w->texts[w->depth - 1] != '\0') {
            break;
        }
        w->depth--;
    }
    if (w->depth == 0) {
        return 0;
    }
    *ret = w->texts[w->depth - 1];
    len = strcspn(*ret, "/");
    w->texts[w->depth - 1] += len;
    *ret_last = 1;
    for (i = w->depth; i > 0 && *ret_last != 0; i--) {
        const char *rest = w->texts[i - 1];

        if (rest[strspn(rest, "/")] != '\0') {
            *ret_last = 0;
        } else if (*rest == '/') {
            *ret_last = 2;
        }
    }
    return len;
}

/* The directory that /tmp points to appears when somebody first goes there. */
static void make_tmp(struct memfs *fs)
{
    struct memfs_node *node;
    int r = memfs_may_change(fs->work);

    if (!fs->tmp_made && r == 0) {
        r = memfs_find(fs->work, ".tmp", 4) != NULL
                ? 0
                : memfs_make(fs, fs->work, ".tmp", 4, S_IFDIR | (0777 & ~fs->umask), &node);
        fs->tmp_made = r == 0;
    }
}

static int go_through_link(struct walk *w, const struct memfs_node *link)
{
    if (++w->links_count > MEMFS_LINKS_MAX) {
        return -ELOOP;
    }
    if (link == w->fs->tmp) {
        make_tmp(w->fs);
    }
    if (link->link.target[0] == '/') {
        w->at = w->fs->root;
        w->place->dir = w->place->node = w->at; /* should there be nothing but slashes */
        w->place->entry = NULL;
        w->place->last = MEMFS_LAST_ROOT;
    }
    w->texts[w->depth++] = link->link.target; /* fits: one for each link, and the path */
    return 0;
}

static void go_up(struct walk *w)
{
    char *served = w->place->served;

    if (is_served(w->at) && w->served_len > 0) {
        while (w->served_len > 0 && served[--w->served_len] != '/') {
        }
        served[w->served_len] = '\0';
    } else {
        w->at = w->at->dir.parent;
    }
}

/* Into a directory, whose contents are somebody else's when it is served. */
static void go_down(struct walk *w, struct memfs_node *node)
{
    w->at = node;
    w->served_len = 0;
    w->place->served[0] = '\0';
}

static int add_served(struct walk *w, const char *part, size_t len)
{
    char *served = w->place->served;

    if (w->served_len + 1 + len >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    if (w->served_len > 0) {
        served[w->served_len++] = '/';
    }
    memcpy(served + w->served_len, part, len);
    w->served_len += len;
    served[w->served_len] = '\0';
    return 0;
}

/* A part that is a name, in a directory of ours. */
static int take_name(struct walk *w, const char *part, size_t len, int last)
{
    struct memfs_place *p = w->place;
    int follows =
        last == 0 || (last == 2 && w->follow != MEMFS_PARENT) || w->follow == MEMFS_FOLLOW;

    p->dir = w->at;
    p->entry = memfs_find(w->at, part, len);
    p->node = p->entry != NULL ? p->entry->node : NULL;
    p->last = MEMFS_LAST_NAME;
    p->name_len = len;
    memcpy(p->name, part, len);
    p->name[len] = '\0';
    if (p->node == NULL) {
        return last != 0 ? 0 : -ENOENT;
    }
    if (S_ISLNK(p->node->mode) && follows) {
        return go_through_link(w, p->node);
    }
    if (S_ISDIR(p->node->mode)) {
        go_down(w, p->node);
        return 0;
    }
    return last != 0 ? 0 : -ENOTDIR;
}

static int take_part(struct walk *w, const char *part, size_t len, int last)
{
    struct memfs_place *p = w->place;
    int dots = part[0] == '.' && (len == 1 || (len == 2 && part[1] == '.')) ? (int)len : 0;
    int r = is_served(w->at) ? 0 : memfs_may(w->at, MEMFS_X);

    p->slash = last == 2;
    if (r < 0) {
        return r;
    }
    if (dots > 0) {
        if (dots == 2) {
            go_up(w);
        }
        p->dir = p->node = w->at;
        p->entry = NULL;
        p->last = dots == 1 ? MEMFS_LAST_DOT : MEMFS_LAST_DOT_DOT;
        return 0;
    }
    if (len > MEMFS_NAME_MAX) {
        return -ENAMETOOLONG;
    }
    if (is_served(w->at)) {
        p->dir = p->node = w->at;
        p->entry = NULL;
        p->last = MEMFS_LAST_NAME;
        return add_served(w, part, len);
    }
    return take_name(w, part, len, last);
}

/* Where a path begins. */
static void set_off(struct walk *w, const char *path)
{
    struct memfs_place *p = w->place;

    w->texts[w->depth++] = path;
    go_down(w, path[0] == '/' ? w->fs->root : w->fs->cwd);
    if (path[0] != '/' && w->fs->cwd_served != NULL) {
        (void)add_served(w, w->fs->cwd_served, strlen(w->fs->cwd_served)); /* it was one before */
    }
    p->dir = p->node = w->at;
    p->entry = NULL;
    p->last = MEMFS_LAST_ROOT;
    p->slash = 0;
    p->name_len = 0;
    p->name[0] = '\0';
}

int memfs_resolve(
    struct memfs *fs, const char *path, enum memfs_follow follow, struct memfs_place *ret)
{
    struct walk w = {.fs = fs, .place = ret, .follow = follow};
    const char *part = NULL;
    size_t len;
    int last = 0;
    int r = memfs_begin(fs);

    if (r < 0) {
        return r;
    }
    if (path[0] == '\0') {
        return -ENOENT;
    }
    if (strlen(path) >= PATH_MAX) {
        return -ENAMETOOLONG;
    }
    set_off(&w, path);
    while (r == 0 && (len = next_part(&w, &part, &last)) > 0) {
        r = take_part(&w, part, len, last);
    }
    ret->is_served = is_served(ret->node);
    return r;
}

int memfs_ask(struct memfs *fs, const struct memfs_place *place, unsigned asked, int quiet)
{
    char path[PATH_MAX];
    int r;

    if (fs->judge == NULL || asked == 0) {
        return 0;
    }
    if (place->is_served) {
        r = memfs_path_of(fs, place->node, place->served, path);
    } else if (place->last == MEMFS_LAST_NAME) {
        r = memfs_path_of(fs, place->dir, place->name, path);
    } else {
        r = memfs_path_of(fs, place->node, NULL, path);
    }
    return r < 0 ? r : fs->judge(fs, asked, path, quiet);
}

int memfs_resolve_node(struct memfs *fs, const char *path, enum memfs_follow follow, unsigned asked,
    struct memfs_place *ret)
{
    int r = memfs_resolve(fs, path, follow, ret);

    r = r < 0 ? r : memfs_ask(fs, ret, asked, 0);
    if (r < 0) {
        return r;
    }
    if (ret->node == NULL) {
        return -ENOENT;
    }
    return ret->slash && !S_ISDIR(ret->node->mode) ? -ENOTDIR : 0;
}

/* ---- and back ---- */

/* Puts text in front of what is at *at in path; *at moves. */
static int put_before(char path[PATH_MAX], size_t *at, const char *text, size_t len)
{
    if (len + 1 > *at) {
        return -ENAMETOOLONG;
    }
    *at -= len;
    memcpy(path + *at, text, len);
    path[--*at] = '/';
    return 0;
}

int memfs_path_of(
    const struct memfs *fs, const struct memfs_node *dir, const char *name, char path[PATH_MAX])
{
    size_t at = PATH_MAX - 1;
    int r = 0;

    path[at] = '\0';
    if (name != NULL && name[0] != '\0') {
        r = put_before(path, &at, name, strlen(name));
    }
    while (r == 0 && dir != fs->root) {
        r = dir->dir.own == NULL ? -ENOENT
                                 : put_before(path, &at, dir->dir.own->name, dir->dir.own->len);
        dir = dir->dir.parent;
    }
    if (r == 0 && path[at] == '\0') {
        path[--at] = '/';
    }
    memmove(path, path + at, PATH_MAX - at);
    return r;
}

int memfs_realpath(struct memfs *fs, const char *path, char resolved[PATH_MAX])
{
    struct memfs_place place;
    struct stat st;
    int r = memfs_resolve_node(fs, path, MEMFS_FOLLOW, MEMFS_ASK_LOOK, &place);

    if (r < 0) {
        return r;
    }
    if (place.is_served) {
        r = memfs_served_stat(place.node, place.served, &st);
        return r < 0 ? r : memfs_path_of(fs, place.node, place.served, resolved);
    }
    return S_ISDIR(place.node->mode) ? memfs_path_of(fs, place.node, NULL, resolved)
                                     : memfs_path_of(fs, place.dir, place.name, resolved);
}

int memfs_getcwd(struct memfs *fs, char path[PATH_MAX])
{
    int r = memfs_begin(fs);

    return r < 0 ? r : memfs_path_of(fs, fs->cwd, fs->cwd_served, path);
}

int memfs_enter(struct memfs *fs, struct memfs_node *dir, const char *served)
{
    char *copy = served != NULL ? strdup(served) : NULL;
    struct memfs_node *before = fs->cwd;

    if (served != NULL && copy == NULL) {
        return -ENOMEM;
    }
    dir->refs++;
    fs->cwd = dir;
    free(fs->cwd_served);
    fs->cwd_served = copy;
    memfs_node_unref(fs, before);
    return 0;
}

int memfs_chdir(struct memfs *fs, const char *path)
{
    struct memfs_place place;
    struct stat st;
    int r = memfs_resolve_node(fs, path, MEMFS_FOLLOW, MEMFS_ASK_ENTER, &place);

    if (r < 0) {
        return r;
    }
    if (place.is_served) {
        r = memfs_served_stat(place.node, place.served, &st);
        if (r == 0 && !S_ISDIR(st.st_mode)) {
            r = -ENOTDIR;
        }
        return r < 0 ? r : memfs_enter(fs, place.node, place.served);
    }
    if (!S_ISDIR(place.node->mode)) {
        return -ENOTDIR;
    }
    r = memfs_may(place.node, MEMFS_X);
    return r < 0 ? r : memfs_enter(fs, place.node, NULL);
}

int memfs_make_dirs(struct memfs *fs, const char *name, size_t len, struct memfs_node **ret)
{
    const char *end = name + len;
    struct memfs_node *dir, *next;
    const struct memfs_entry *e;
    size_t n;
    int r = memfs_begin(fs);

    for (dir = fs->work; r == 0 && name < end; name += n < (size_t)(end - name) ? n + 1 : n) {
        const char *slash = memchr(name, '/', (size_t)(end - name));

        n = (size_t)((slash != NULL ? slash : end) - name);
        e = memfs_find(dir, name, n);
        next = e != NULL ? e->node : NULL;
        if (is_served(dir)) {
            r = -EROFS;
        } else if (next == NULL) {
            r = memfs_may_change(dir);
            r = r < 0 ? r : memfs_make(fs, dir, name, n, S_IFDIR | 0755, &next);
        } else if (!S_ISDIR(next->mode)) {
            r = S_ISLNK(next->mode) ? -ELOOP : -ENOTDIR;
        }
        dir = r == 0 ? next : dir;
    }
    if (r == 0) {
        *ret = dir;
    }
    return r;
}
