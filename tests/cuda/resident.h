/* Cases whose arrays live somewhere else than in plain memory, compared with the CPU alone. */
#ifndef TESTS_CUDA_RESIDENT_H
#define TESTS_CUDA_RESIDENT_H

#include "gpu_lab.h"

/* ON_GPU + N: on cuda:N. MIXED: another place for each array. */
typedef enum resident_place { ON_HOST, ON_PINNED, MIXED, ON_GPU } resident_place;

const char *resident_name(resident_place place);

/* That allocation of the library on the host fails, counted from where the arrays are made until
 * the outputs are fetched; 0: none. */
extern int64_t resident_fail_at;

/* Puts the case's inputs and outputs there, runs it, fetches the outputs and compares. `counts`:
 * what the run itself did on all devices together (NULL: not wanted). The status is that of the
 * first call that failed; SY_ERR_NO_DEVICE when the context has no such GPU. */
sy_status resident_compare(sy_context *context, lab_case *c, resident_place in, resident_place out,
                           sy_report *report, vcuda_counts *counts, const char *what);

#endif
