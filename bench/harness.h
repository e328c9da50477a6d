/*
 * What the benches share: the command line, timing side against side, lines of figures as JSON or
 * as a table, scratch files that do not outlive the program, and arrays.
 *
 * bench_begin() reads the command line and refuses what was not optimised; bench_start() says what
 * machine it is; bench_time() times several sides in turn, each long enough for the clock;
 * bench_row() begins a line of figures, which bench_word() and bench_figure() fill and
 * bench_row_end() ends.
 *
 * A bench is a program of one thread that ends when something is wrong, so the functions do not
 * return errors: they print one line and exit (1: it could not be measured, 2: the command line).
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <steelyard/steelyard.h>

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_VALUES = 32, BENCH_MOST_PASSES = 99 };

/* ---- command line ---- */

typedef struct bench_option {
    const char *name;  /* without the dashes */
    const char *value; /* what the help calls its value; NULL: it takes none */
    const char *help;
    const char *fallback;     /* as on the command line; NULL: none */
    const char *const *words; /* what it may be, NULL-terminated; NULL: a number, or any text */
    double least, most;       /* of a number; most 0: any text */
    int many;                 /* takes several values */
    /* Filled in. A flag that was given has count 1. */
    int count;
    const char *text[BENCH_VALUES];
    double number[BENCH_VALUES];
} bench_option;

/* The options named here and those that all benches have. */
void bench_begin(const char *name, const char *purpose, bench_option *options, int count, int argc,
                 char **argv);
/* The first row, about machine and build: once nothing on the command line is left to refuse.
 * `most`: the instruction set that the library is held to, or NULL. */
void bench_start(const char *most);
/* The processors that this process may use; 1 in a build without OpenMP. */
int bench_most_threads(void);
/* Refuses more threads than that: they would wait for each other. */
void bench_check_threads(const bench_option *threads);
/* Refuses sizes for which there is no memory; `bytes`: of all arrays that are there at once, for an
 * element. */
void bench_check_memory(const bench_option *sizes, double bytes);
/* Whether the word is among the option's values; every word is when it has none. */
int bench_wants(const bench_option *option, const char *word);
/* Frees what is kept; the value of main. */
int bench_end(void);

/* One line on standard error, "NAME: ...", and exit 1. */
void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same about the command line, and exit 2. */
void bench_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* As bench_fail with the library's own words unless `status` is SY_OK. */
void bench_check(sy_status status);
/* What is being done, on the terminal if there is one. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- timing ---- */

/* One of the things compared: `work(user)` does it once. */
typedef struct bench_side {
    void (*work)(void *user);
    void *user;
    int64_t repeats;              /* in a row, so that the clock sees them; found by doubling */
    bool is_long;                 /* once takes much longer than that */
    double ns[BENCH_MOST_PASSES]; /* of one, in every pass */
    double median, least;
} bench_side;

double bench_now_ns(void);
/* Times all sides in turn, as many passes as the command line says. */
void bench_time(bench_side *sides, int count);
/* The median of what one side takes divided by what the other takes in the same pass. */
double bench_ratio(const bench_side *side, const bench_side *reference);
double bench_median(double *values, int count); /* sorts them */
int bench_passes(void);

/* ---- output ---- */

void bench_row(const char *record);
void bench_word(const char *name, const char *value);
/* With so many digits after the point; NaN is "not measured". */
void bench_figure(const char *name, double value, int digits);
/* The same for what would only make the table wider than a terminal: JSON alone has it. */
void bench_detail(const char *name, double value, int digits);
void bench_row_end(void);
/* Used by bench_start; `isa`: of the processor's instruction sets the one that the library chose.
 */
void bench_machine(const char *bench, const char *cpu, const char *isa, double clock_ns);
void bench_output(int json);

/* ---- surroundings ---- */

/* Zeroed and touched, so that no page is missing later, and aligned for huge pages, each of the
 * first arrays a bit further so that they do not all lie in the same sets of the cache. */
double *bench_array(int64_t elements, int which);
/* From now on all begin at the same place of a page, as large ones of malloc do. */
void bench_arrays_alike(void);
void bench_array_free(double *array);

/* A context that knows nothing of what this user has stored; give back with sy_context_destroy.
 * `driver`: as sy_config.cuda_driver. */
sy_context *bench_open(const char *devices, const char *driver);
/* 1.5 x + 2.5, as cheap a workload as there is; and registers it as `light`. */
int bench_light(const sy_segment *segment);
void bench_register_light(sy_context *context);
/* A folder for files; it and what is in it are gone when the program ends, however it ends. */
const char *bench_scratch(void);
/* Forgets what contexts of bench_open have stored. */
void bench_forget(void);

#endif
