/*
 * Programs of one call each: a context, one run, the end. What the run took is made up, so nothing
 * depends on the machine's speed. Two devices, `a` and `b`, with a profile of sma in a file.
 */
#ifndef TESTS_ONE_CALL_H
#define TESTS_ONE_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "api/context.h"
#include "support/lab.h"

enum { ONE_CALL_COLUMNS = 100 * 4096 };

extern char one_call_path[64], one_call_lock[80];
void one_call_set_up(void);
void one_call_tear_down(void);

/* What the two devices take by what was measured; 0: no part. `packets` of them, the first of which
 * takes ten times as long. */
typedef struct deed {
    double slower[2];
    int packets;
    bool untouched;
    bool warm;       /* the first packet takes as long as the others */
    int64_t columns; /* 0: ONE_CALL_COLUMNS */
    sy_dtype dtype;
} deed;

extern const deed b_is_slow; /* by three */

/* A profile that runs have multiplied for b. */
void write_profile(double drift_of_b);
/* Makes b's one of another driver. */
void change_driver(void);
sy_context *open_devices(lab_log *log);
void learn(sy_context *context, const deed *did);
void one_call(const deed *did, lab_log *log);
/* One in which b takes so many times what was measured. */
void b_takes(double slower);

/* b's entry in `part` of the profile; to be given back. */
json_t *entry_of_b(const char *part);
/* What the file says that b takes by what was measured, its times included. */
double drift_of_b(void);
void expect_pending(int runs, double slower, int idle);
/* Three runs in which b takes three times as long; the file says so after the last one. */
void expect_the_third_corrects(void);
void put_pending(const char *text);
/* A file is written by replacing it. */
struct stat look(void);
int same(struct stat a, struct stat b);

#endif
