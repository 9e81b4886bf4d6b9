/* image.h - the warm memory of a template as a file that its copies share.
 *
 * A fork copies the table entry of every page that a process has of its own, and the end of the
 * copy gives each of them back: for the heap of a warm engine that is a third of what a small run
 * costs. Of private mappings of a file a fork copies nothing, and the copy finds what it touches by
 * itself. So the template writes its heap, the variables of libraries and the engine's code into a
 * file in memory once, on huge pages where they fill such, and maps that in their place. Nobody can
 * write to the file: whoever writes to a page of the mapping gets one of its own, as before. */
#ifndef VIAL_CELL_IMAGE_H
#define VIAL_CELL_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "cell/mapping.h"

/* A set of pages of the image. */
enum { IMAGE_PAGES_MAX = 65536 }; /* 256 MB; more of a heap stays as it is */
struct image_set {
    uint8_t bits[IMAGE_PAGES_MAX / 8];
};

/* Template, before it has allocated anything: so that what becomes part of the image can be. */
void image_prepare(void);

/* Template: makes the image of what the list has of memory of its own. No thread but the caller's
 * may be there. */
void image_take(int look_fd, const struct mapping_list *list);

/* How much of this process's memory is the image, whether or not it is mapped in. */
size_t image_bytes(void);

/* A trial copy: from now on a page that is touched comes alone, without its neighbours. */
void image_scatter(void);

/* The pages of the image that this process has and has not written to. */
void image_look(int look_fd, struct image_set *ret);

/* Template: of the pages of the file it has those of the set from now on and gives its copies the
 * same; others are found when they are touched. */
void image_keep(int look_fd, struct image_set *set);

/* A copy: has these pages at once, with some of their neighbours; NULL: all. */
void image_map(const struct image_set *set);

#endif
