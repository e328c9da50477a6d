/*
 * What the suites work with: contexts that remember what was logged, arrays with guard zones, and
 * one call that distributes a case and keeps its outputs. Nothing here decides what is right.
 */
#ifndef TESTS_SUPPORT_LAB_H
#define TESTS_SUPPORT_LAB_H

#include <stddef.h>
#include <stdint.h>
#include <steelyard/steelyard.h>

/* The CPU with so many threads, in a list of devices; a build without OpenMP has one. */
#ifdef _OPENMP
#define LAB_CPU(threads) "cpu:threads=" #threads
enum { LAB_MOST_THREADS = 3 };
#else
#define LAB_CPU(threads) "cpu:threads=1"
enum { LAB_MOST_THREADS = 1 };
#endif

/* Lines that a context has logged. */
typedef struct lab_log {
    int infos, warnings;
    char last[512];  /* the last warning */
    char text[4096]; /* every line, while there is room */
} lab_log;

/* Counts a line; `user` is a lab_log. */
void lab_remember(void *user, sy_log_level level, const char *line);

/* Progress that cancels when asked again after the last tile: nothing is left but what the merge
 * does. `user` is an int that is 0. */
int lab_stop_at_the_end(void *user, uint64_t done, uint64_t tiles);

/* The number that an environment variable holds, or `fallback`. */
uint64_t lab_setting(const char *name, uint64_t fallback);

/* A context over `devices` with a profile file that does not exist (or `multigpu_path`). `log` may
 * be NULL. NULL, with the library's message on standard error, when it cannot be had. */
sy_context *lab_open(const char *devices, const char *multigpu_path, lab_log *log);
/* Removes a multigpu.json or thresholds.json, its lock, and what was kept of a damaged one. */
void lab_remove(const char *path);

/* `count` doubles between two guard zones, poisoned; NULL when memory is exhausted. */
double *lab_alloc(int64_t count);
int lab_guards_intact(const double *array, int64_t count);
/* Whether every value is still the poison. */
int lab_untouched(const double *array, int64_t count);
void lab_free(double *array);

enum { LAB_INPUTS = 3, LAB_OUTPUTS = 3 };

/* A case; what lab_prepare allocates belongs to it. Inputs after the first are x's rows, turned by
 * a third of a row and by two. */
typedef struct lab_case {
    const char *workload;
    sy_param params[4];
    int n_params;
    int64_t rows, columns;
    sy_dtype dtype; /* SY_F32: x holds floats' values (lab_round_to_floats), the outputs too */
    const double *x;
    int n_inputs;
    double *more[LAB_INPUTS - 1];
    int n_outputs;
    int64_t out_count; /* values of each output */
    double *out[LAB_OUTPUTS];
} lab_case;

/* Allocates the inputs after x, and the outputs, poisoned. 0 when memory is exhausted. */
int lab_prepare(lab_case *c);
void lab_release(lab_case *c);
/* Every value becomes the nearest float's. */
void lab_round_to_floats(double *x, int64_t count);
/* Distributes the case; the status, and SY_ERR_INTERNAL when a guard zone was written. */
sy_status lab_run(sy_context *context, lab_case *c, const sy_options *options, sy_report *report);

/* Whether the thread's last error is `status` with one non-empty line of text; says so otherwise.
 */
int lab_told(sy_status status);

/* The index of the first value with other bits, -1 when all are equal. */
int64_t lab_difference(const double *a, const double *b, int64_t count);
/* The same over all outputs of two cases; `output` tells where. */
int64_t lab_case_difference(const lab_case *a, const lab_case *b, int *output);
/* Whether the case's outputs have the bits that one thread of the CPU computes; says where not. */
int lab_as_on_cpu(const lab_case *c);
/* "workload(name=value, ..)", in a buffer of the caller. */
const char *lab_describe(const lab_case *c, char *text, size_t size);

#endif
