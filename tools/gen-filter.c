/* gen-filter.c - turns src/jail/filter_table.inc into BPF programs, at build time.
 *
 * Loading a filter costs about 1.8 us an instruction when it is a list, because the kernel runs it
 * for every system call number to learn which are always allowed. So each program is a binary tree
 * over ranges of numbers: the path to any answer is some eight comparisons. The template's program
 * holds the whole table; a profile's program holds only what differs from it for a cell. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#error "no filter for this processor yet"
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum {
    NUMBERS_MAX = 1024, /* far above the newest call */
    NUMBER_LAST =
        450, /* set_mempolicy_home_node, the newest one in the headers this was written with */
    VALUES_MAX = 24,    /* the longest list in the table is 16 */
    PROGRAM_MAX = 4096, /* BPF_MAXINSNS */
    X32_FIRST = 0x40000000
};

/* Bits: a call may be for several. */
enum who { CELL = 1, SETUP = 2, ORIGIN = 4, INIT = 8, THREADS = 16 };
enum kind { DEFAULT, ALLOW, IN, CLEAR, NOSYS, KILL };

struct rule {
    enum kind kind;
    unsigned who;
    unsigned arg, arg2; /* the second one of CLEAR: for values[1] */
    uint32_t values[VALUES_MAX];
    unsigned values_count;
};

static struct rule table[NUMBERS_MAX];
static struct rule only[NUMBERS_MAX]; /* what CALL_ONLY says */

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned len;
};

static void set(long nr, struct rule rule)
{
    if (nr < 0 || nr > NUMBER_LAST) {
        fprintf(stderr, "gen-filter: call number %ld is outside of the table\n", nr);
        exit(1);
    }
    if (table[nr].kind != DEFAULT && memcmp(&table[nr], &rule, sizeof(rule)) != 0) {
        fprintf(stderr, "gen-filter: call number %ld has two different rules\n", nr);
        exit(1);
    }
    table[nr] = rule;
}

/* What branch.c clones with. */
#define BRANCH_FLAGS (CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

/* What libc makes a thread with. */
#define THREAD_FLAGS                                                                               \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |            \
        CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

#define LIST(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define COUNT(...) (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define CALL(name, w, reason) set(SYS_##name, (struct rule){.kind = ALLOW, .who = (w)});
#define CALL_IN(name, w, a, reason, ...)                                                           \
    set(SYS_##name, (struct rule){.kind = IN,                                                      \
                        .who = (w),                                                                \
                        .arg = (a),                                                                \
                        .values = LIST(__VA_ARGS__),                                               \
                        .values_count = COUNT(__VA_ARGS__)});
#define CALL_CLEAR(name, w, a, bits, reason)                                                       \
    set(SYS_##name,                                                                                \
        (struct rule){                                                                             \
            .kind = CLEAR, .who = (w), .arg = (a), .values = {(bits)}, .values_count = 1});
#define CALL_CLEAR2(name, w, a, bits, a2, bits2, reason)                                           \
    set(SYS_##name, (struct rule){.kind = CLEAR,                                                   \
                        .who = (w),                                                                \
                        .arg = (a),                                                                \
                        .arg2 = (a2),                                                              \
                        .values = {(bits), (bits2)},                                               \
                        .values_count = 2});
#define CALL_ONLY(name, w, a, reason, ...)                                                         \
    only[SYS_##name] = (struct rule){.kind = IN,                                                   \
        .who = (w),                                                                                \
        .arg = (a),                                                                                \
        .values = LIST(__VA_ARGS__),                                                               \
        .values_count = COUNT(__VA_ARGS__)};
#define CALL_NOSYS(name, reason) set(SYS_##name, (struct rule){.kind = NOSYS});
#define CALL_KILL(name, reason) set(SYS_##name, (struct rule){.kind = KILL});

static void fill_table(void)
{
#include "jail/filter_table.inc"
}

static void emit(struct program *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
    if (p->len == PROGRAM_MAX) {
        fprintf(stderr, "gen-filter: a program is too long\n");
        exit(1);
    }
    p->code[p->len] = (struct sock_filter){.code = code, .jt = jt, .jf = jf, .k = k};
    p->len++;
}

static void emit_return(struct program *p, uint32_t action)
{
    emit(p, BPF_RET | BPF_K, 0, 0, action);
}

static void emit_load_arg(struct program *p, unsigned arg, int high)
{
    uint32_t offset = (uint32_t)offsetof(struct seccomp_data, args) + 8 * arg + (high ? 4 : 0);

    emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

/* The answer for calls whose argument decides. A high half that is not zero never matches. */
static void emit_low_half(struct program *p, unsigned arg)
{
    emit_load_arg(p, arg, 1);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
    emit_return(p, SECCOMP_RET_ERRNO | EPERM);
    emit_load_arg(p, arg, 0);
}

static void emit_argument_rule(struct program *p, const struct rule *rule)
{
    unsigned i;

    if (rule->kind == CLEAR) {
        for (i = 0; i < rule->values_count; i++) {
            emit_low_half(p, i == 0 ? rule->arg : rule->arg2);
            emit(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, rule->values[i]);
            emit_return(p, SECCOMP_RET_ERRNO | EPERM);
        }
        emit_return(p, SECCOMP_RET_ALLOW);
        return;
    }
    emit_low_half(p, rule->arg);
    for (i = 0; i < rule->values_count; i++) {
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(rule->values_count - i), 0, rule->values[i]);
    }
    emit_return(p, SECCOMP_RET_ERRNO | EPERM);
    emit_return(p, SECCOMP_RET_ALLOW);
}

static void emit_leaf(struct program *p, const struct rule *rule)
{
    switch (rule->kind) {
    case ALLOW:
        emit_return(p, SECCOMP_RET_ALLOW);
        break;
    case IN:
    case CLEAR:
        emit_argument_rule(p, rule);
        break;
    case NOSYS:
        emit_return(p, SECCOMP_RET_ERRNO | ENOSYS);
        break;
    case KILL:
        emit_return(p, SECCOMP_RET_KILL_PROCESS);
        break;
    case DEFAULT:
        emit_return(p, SECCOMP_RET_ERRNO | EPERM);
        break;
    }
}

/* Ranges of neighbouring numbers with the same answer; first[i] is where range i starts. */
struct ranges {
    uint32_t first[NUMBERS_MAX];
    struct rule rule[NUMBERS_MAX];
    unsigned count;
};

static void add_range(struct ranges *ranges, uint32_t first, const struct rule *rule)
{
    if (ranges->count > 0 && memcmp(&ranges->rule[ranges->count - 1], rule, sizeof(*rule)) == 0) {
        return;
    }
    ranges->first[ranges->count] = first;
    ranges->rule[ranges->count] = *rule;
    ranges->count++;
}

/* How many instructions emit_leaf makes. */
static unsigned leaf_len(const struct rule *rule)
{
    if (rule->kind == CLEAR) {
        return 6 * rule->values_count + 1;
    }
    return rule->kind == IN ? 6 + rule->values_count : 1;
}

static unsigned tree_len(const struct ranges *ranges, unsigned from, unsigned to)
{
    unsigned middle = (from + to) / 2;
    unsigned left;

    if (to - from == 1) {
        return leaf_len(&ranges->rule[from]);
    }
    left = tree_len(ranges, from, middle);
    return (left > UINT8_MAX ? 2 : 1) + left + tree_len(ranges, middle, to);
}

/* A conditional jump reaches 255 instructions; over a longer left side an unconditional one helps.
 */
static void emit_tree(struct program *p, const struct ranges *ranges, unsigned from, unsigned to)
{
    unsigned middle = (from + to) / 2;
    unsigned left;

    if (to - from == 1) {
        emit_leaf(p, &ranges->rule[from]);
        return;
    }
    left = tree_len(ranges, from, middle);
    if (left > UINT8_MAX) {
        emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, ranges->first[middle]);
        emit(p, BPF_JMP | BPF_JA, 0, 0, left);
    } else {
        emit(p, BPF_JMP | BPF_JGE | BPF_K, (uint8_t)left, 0, ranges->first[middle]);
    }
    emit_tree(p, ranges, from, middle);
    emit_tree(p, ranges, middle, to);
}

static void emit_number_load(struct program *p)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offsetof(struct seccomp_data, nr));
}

static void make_template(struct program *p)
{
    static struct ranges ranges;
    struct rule nosys = {.kind = NOSYS};
    struct rule plain;
    uint32_t nr;

    memset(&ranges, 0, sizeof(ranges));
    emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, THIS_ARCH);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
    emit_number_load(p);
    for (nr = 0; nr <= NUMBER_LAST; nr++) {
        plain = table[nr];
        plain.who = CELL; /* who does not matter here, and must not split ranges */
        add_range(&ranges, nr, &plain);
    }
    add_range(
        &ranges, NUMBER_LAST + 1, &nosys); /* newer calls, and x32 numbers from X32_FIRST on */
    emit_tree(p, &ranges, 0, ranges.count);
}

/* Allows what the template's program allows, except what the profile must not have. */
static void make_profile(struct program *p, unsigned who)
{
    static struct ranges ranges;
    struct rule allow = {.kind = ALLOW};
    struct rule deny = {.kind = DEFAULT};
    struct rule nosys = {.kind = NOSYS};
    uint32_t nr;
    int listed;

    memset(&ranges, 0, sizeof(ranges));
    emit_number_load(p);
    for (nr = 0; nr <= NUMBER_LAST; nr++) {
        listed = table[nr].kind == ALLOW || table[nr].kind == IN || table[nr].kind == CLEAR;
        if (listed && (only[nr].who & who) != 0) {
            add_range(&ranges, nr, &only[nr]);
        } else if (listed && (table[nr].who & who) == 0) {
            add_range(&ranges, nr, nr == SYS_clone3 ? &nosys : &deny);
        } else if (listed || table[nr].kind == KILL || table[nr].kind == NOSYS) {
            add_range(&ranges, nr, &allow);
        }
        /* What the template's program refuses already may fall on either side: fewer ranges. */
    }
    add_range(
        &ranges, NUMBER_LAST + 1, &allow); /* of two equal refusals the last loaded would speak */
    emit_tree(p, &ranges, 0, ranges.count);
}

static void print_program(const char *name, const struct program *p)
{
    unsigned i;

    printf("static struct sock_filter %s_code[] = {\n", name);
    for (i = 0; i < p->len; i++) {
        printf("    {0x%02x, %u, %u, 0x%08x},\n", p->code[i].code, p->code[i].jt, p->code[i].jf,
            p->code[i].k);
    }
    printf("};\nconst struct sock_fprog filter_%s = {%u, %s_code};\n\n", name, p->len, name);
}

/* With an argument it also prints what only the hostile suite has: a template that may share
 * memory, one that may clone in every way, and a cell with threads that may do what its template
 * may. */
int main(int argc, char **argv)
{
    static struct program template, compute, threads, origin, init, shares, loose, loose_threads;

    fill_table();
    make_template(&template);
    make_profile(&compute, CELL);
    make_profile(&threads, CELL | THREADS);
    make_profile(&origin, CELL | ORIGIN);
    make_profile(&init, INIT);
    printf("/* Generated by tools/gen-filter.c from src/jail/filter_table.inc. */\n");
    printf("#include \"jail/filter.h\"\n\n");
    print_program("template", &template);
    print_program("compute", &compute);
    print_program("threads", &threads);
    print_program("origin", &origin);
    print_program("init", &init);
    if (argc > 1 && strcmp(argv[1], "--mutation") == 0) {
        table[SYS_mmap].values_count = 1;
        make_template(&shares);
        print_program("template_shares", &shares);
        table[SYS_mmap].values_count = 2;
        table[SYS_clone].kind = ALLOW;
        make_template(&loose);
        print_program("template_any_clone", &loose);
        only[SYS_clone].who = 0;
        table[SYS_clone].who |= THREADS;
        make_profile(&loose_threads, CELL | THREADS);
        print_program("threads_any_clone", &loose_threads);
    }
    return 0;
}
