/* mapping.h - what the kernel tells a process about its own memory: mappings, and which of their
 * pages are there. For templates, while /proc is visible. */
#ifndef VIAL_CELL_MAPPING_H
#define VIAL_CELL_MAPPING_H

#include <stddef.h>
#include <stdint.h>

enum {
    PAGE = 4096,
    MAPPINGS_MAX = 512, /* of a template; an engine has some hundred */
};

struct mapping {
    uintptr_t start, end;
    int prot;
    int of_file; /* else memory of our own */
    uint64_t used_kib;
};

struct mapping_list {
    struct mapping items[MAPPINGS_MAX];
    unsigned count;
};

/* The mappings of this process. None when the kernel does not tell, or when they are too many. */
void mapping_list_read(struct mapping_list *list);

/* What a page is to this process. */
enum page_state {
    PAGE_NONE,
    PAGE_OWN,    /* memory of its own that no other process has */
    PAGE_SHARED, /* memory of its own that a copy of it has as well */
    PAGE_FILE    /* as it is in a file */
};

/* A look at pages; -1 when there is none to be had. */
int mapping_look_open(void);

/* What count pages from start on are, one byte each; fewer when the kernel does not tell of all. */
size_t mapping_look(int look_fd, uintptr_t start, size_t count, uint8_t *ret);

/* Calls back for runs of pages between two addresses that are alike, in their order. They may
 * be shorter than they could be. */
typedef void mapping_run_fn(uintptr_t start, size_t count, uint8_t state, void *user);
void mapping_each_run(int look_fd, uintptr_t start, uintptr_t end, mapping_run_fn *fn, void *user);

#endif
