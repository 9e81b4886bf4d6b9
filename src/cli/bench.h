/* bench.h - the parts of `vial bench` and what they share. */
#ifndef VIAL_CLI_BENCH_H
#define VIAL_CLI_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "vial.h"

/* A row of times, sorted when asked for. */
struct bench_times {
    uint64_t *us;
    size_t count, capacity;
};
void bench_times_add(struct bench_times *t, uint64_t us);
uint64_t bench_times_at(struct bench_times *t, unsigned percent); /* 50 is the median */
void bench_times_release(struct bench_times *t);

struct bench {
    struct vial_engine *engine;        /* warm, with its pool */
    struct vial_engine *engine_no_jit; /* NULL until asked for */
    struct json_writer *json;          /* NULL: print for people */
    uint64_t floor_us;                 /* median of the floor, 0 when not measured */
};

/* Prints what is being measured on a terminal; erased by the next line. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line of the report for people. */
void bench_line(struct bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The engine for interpretation only; NULL after a message. */
struct vial_engine *bench_engine_no_jit(struct bench *b);

/* Runs source once and gives the time from call to return; 0 after a message when it is not ok. */
uint64_t bench_run(
    struct vial_engine *engine, const char *source, size_t len, struct vial_usage *usage);

/* bench_floor.c: what the kernel asks for a bare process as large as the template. */
int bench_floor(struct bench *b);
int bench_floor_throughput(struct bench *b);

/* bench_runs.c */
int bench_hot(struct bench *b);
int bench_hot_2kb(struct bench *b);
int bench_hot_module(struct bench *b);
int bench_hot_require(struct bench *b);
int bench_throughput(struct bench *b);
int bench_compute(struct bench *b);

/* bench_scan.c */
int bench_scan(struct bench *b);

/* A program of about 2 KB as a model writes it; its length. */
size_t bench_make_script(char *script, size_t size);

/* bench_values.c */
int bench_json_in(struct bench *b);
int bench_json_out(struct bench *b);

/* bench_tools.c, bench_sessions.c */
int bench_tools(struct bench *b);
int bench_fetch(struct bench *b);    /* bench_fetch.c */
int bench_http(struct bench *b);     /* bench_http.c */
int bench_bindings(struct bench *b); /* bench_bindings.c */
int bench_session(struct bench *b);
int bench_branch(struct bench *b);
int bench_environment(struct bench *b);
void bench_pause_ms(unsigned ms);

/* bench_process.c */
int bench_cold(struct bench *b);
int bench_memory(struct bench *b);
int bench_machine(struct bench *b);

/* The median of the time from the start of a program to its end; 0 when it fails. */
uint64_t bench_program(const char *path, char *const argv[]);

/* bench_python.c */
int bench_python(struct bench *b);
int bench_data(struct bench *b);

/* What a process has of its own on huge pages, also where small pages were taken out of them. */
uint64_t bench_proc_huge_bytes(int pid);

/* How much of a template's memory is an image that its copies share (cell/image.h), mapped in or
 * not. */
uint64_t bench_proc_image_bytes(int pid);

/* How many lines /proc/PID/FILE has; 0 when it cannot be read. */
unsigned bench_proc_lines(int pid, const char *file);

/* Bytes of a line of /proc/PID/FILE that starts with key; 0 when it cannot be read. */
uint64_t bench_proc_bytes(int pid, const char *file, const char *key);

#endif
