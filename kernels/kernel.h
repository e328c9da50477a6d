/*
 * The contract between the built-in workloads and the devices that run them.
 *
 * Every f64 output in `exact` accuracy is the correctly rounded value of its definition, evaluated
 * on the input doubles. So the bits do not depend on where a row is cut, in which order its parts
 * are computed, on which device, nor with which instructions: any way that certifies its rounding
 * is a right way. What a way cannot certify it reports as a doubt, and `repair` decides that
 * stretch from the whole row with wide arithmetic.
 *
 * In `fast` accuracy a workload is another row, with functions of its own. Its arithmetic is plain
 * and nothing is in doubt; every output is a fixed sequence of operations on values that are chosen
 * by their column in the whole row, so its bits do not depend on those things either.
 */
#ifndef SYI_KERNELS_KERNEL_H
#define SYI_KERNELS_KERNEL_H

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) ||       \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "-ffast-math, or a part of it, changes results; compile without it"
#endif

#include "base/error.h"
#include "exact/bits.h"

/* Columns of a canonical tile; any boundary between devices is a tile boundary. */
#define SYI_TILE       ((int64_t)4096)
#define SYI_MAX_ARRAYS 8
#define SYI_MAX_PARAMS 16

/* Stretches [first, last) of rows whose rounding was not certified. Grows as needed. */
typedef struct syi_doubt {
    int64_t row, first, last;
} syi_doubt;

typedef struct syi_doubts {
    syi_doubt *list;
    int64_t count, capacity;
} syi_doubts;

/* Adds column `column` of `row`; near neighbours become one stretch. */
sy_status syi_doubts_add(syi_doubts *doubts, int64_t row, int64_t column);
sy_status syi_doubts_add_stretch(syi_doubts *doubts, int64_t row, int64_t first, int64_t last);
/* Adds all of `more`, or none. */
sy_status syi_doubts_join(syi_doubts *doubts, const syi_doubts *more);
void syi_doubts_sort(syi_doubts *doubts); /* by row and first column */
void syi_doubts_clear(syi_doubts *doubts);

/* The state of a recurrence before some column, as its workload writes it. Zeroed = not set. */
typedef struct syi_carry {
    double word[24];
} syi_carry;

/* What is known of a row before a stretch of it that is to be decided. */
typedef struct syi_past {
    int is_nan;    /* RECURRENCE: the value before the stretch is NaN; asked beyond the warm-up */
    int64_t begin; /* inputs are there from this column on */
    /* As `begin`; the decision sets it to an earlier column when the inputs are wanted from there
     * on. Nothing is decided then. */
    int64_t wanted;
    /* RECURRENCE and REDUCE of floats: the row's inputs, of which the segment has as doubles those
     * up to a recurrence's first value, if they are there. Else NULL. */
    const float *const *floats;
} syi_past;

/* Whether a processor's reductions do better by asking for what they read later (traffic.h): never,
 * always, or for what is in no cache, near ahead. */
typedef enum syi_gain { SYI_GAINS_NOT, SYI_GAINS, SYI_GAINS_NEAR } syi_gain;

/* One call of a kernel: a stretch of one row of any length, or of more columns than a row has:
 * whole rows one behind the other (syi_workload, `joined_from`). */
typedef struct syi_piece {
    sy_segment segment;
    /* RECURRENCE. `start`: the state before segment.first, or NULL: the kernel makes its own from
     * the segment.left columns before it (exact when they reach the row's beginning) and writes
     * what it took, with its error bound, to `assumed`. `end`: the state after the last column,
     * which nobody wants of a row's last one. Both are NULL where the piece is a whole row. */
    const syi_carry *start;
    int is_claim; /* `start` goes back to what a piece assumed: what else may turn out has room */
    syi_carry *assumed, *end;
    /* REDUCE: the partials to fill, one for each tile, zeroed by the caller; the segment begins
     * with a tile, or consists of whole rows, each of which is one. */
    void *partials;
    syi_doubts *doubts;
    int64_t behind; /* columns of the inputs that are in memory right behind the segment */
    /* The work's arrays are too large to stay in a cache, for a reduction in any cache at all
     * (traffic.h). The bits are the same. The caller waits for what goes past the cache. */
    int past_cache;
    syi_gain asks; /* REDUCE: syi_gains_by_asking */
    int waits;     /* syi_waits_for_writes */
    int products;  /* syi_divides_slowly: some roots and quotients are made by products */
    /* Of a workload that takes floats, where the work's arrays are such: then the segment's are
     * NULL, and these point to what they would. */
    const float *const *in_floats;
    float *const *out_floats;
} syi_piece;

typedef sy_status (*syi_run_fn)(const syi_piece *piece);

/* Of this processor. */
syi_gain syi_gains_by_asking(void);

/* Whether this processor's reads wait where they meet what is still to be written (traffic.h). */
int syi_waits_for_writes(void);

/* Whether this processor's other units do with AVX-512 what its divider would keep the rest waiting
 * for (fast/divide.h). */
int syi_divides_slowly(void);

/* Instruction sets the kernels are compiled for (kernels/meson.build); each has all kernels. */
typedef enum syi_isa { SYI_ISA_BASE, SYI_ISA_V3, SYI_ISA_V4, SYI_ISA_COUNT } syi_isa;

typedef struct syi_workload {
    const char *name, *summary;
    int version; /* of the arithmetic; part of a profile's fingerprint */
    sy_pattern pattern;
    int n_inputs, n_outputs, n_params;
    const char *const *input_names, *const *output_names;
    const sy_param_info *params;
    /* What the parameters mean together, beyond each one's own range; NULL: nothing to check. */
    sy_status (*check)(const double *params);
    /* Columns to the left that a piece needs (WINDOW) or wants for its own start (RECURRENCE);
     * NULL: 0. */
    int64_t (*halo)(const double *params);
    /* The first column with a value; the ones before hold NaN. REDUCE: a row that ends before it
     * gives NaN. NULL: 0. */
    int64_t (*warmup)(const double *params);
    /* RECURRENCE: the columns of the blocks that a row consists of, each of which begins anew. A
     * piece that does not begin with one goes through what is before it there, too. NULL: a piece
     * may begin anywhere. */
    int64_t (*block)(const double *params);
    /* Whole rows of so many columns or more may come in one piece (of a REDUCE those that are not
     * longer than a tile do). A WINDOW, of which then nothing is in doubt, may go on from row to
     * row: what it computes of windows that reach over a row's beginning is not used. NULL: never.
     */
    int64_t (*joined_from)(const double *params);
    /* RECURRENCE: columns of rows that are better run several side by side; 0: as many as others.
     */
    int64_t beside_to;
    syi_run_fn run[SYI_ISA_COUNT]; /* NULL: not in this build; BASE is always there */
    /* RECURRENCE: whether the state a piece assumed agrees with the end of its left neighbour,
     * within the error bound it counted with. */
    int (*agrees)(const syi_carry *assumed, const syi_carry *end);
    /* REDUCE. `finish` writes the row's outputs, and *doubt, 0 before, where they are not
     * certified: then `repair` decides the row. */
    size_t partial_size;
    void (*combine)(void *into, const void *right);
    void (*finish)(const void *partial, int64_t columns, const double *params, double *outputs,
                   int *doubt);
    /* Decides columns [first, last) of a row (segment.first = 0, count = columns): writes the
     * correctly rounded outputs. A WINDOW has its halo. For a REDUCE out[k] is the row's one value.
     * NULL: nothing is ever in doubt. */
    sy_status (*repair)(const sy_segment *row, int64_t first, int64_t last, syi_past *past);
    /* Computes so little for its results that several threads would wait for what goes past the
     * cache. */
    int is_write_bound;
    /* Its kernels widen floats, and narrow what they compute, themselves. */
    int takes_floats;
    /* WINDOW: with a halo of so many columns or more its kernels go through several places of a
     * piece side by side, and do something before each, as those of recurrences do; 0: never. */
    int64_t lanes_from;
    const struct syi_gpu_form *gpu; /* launch.h; NULL: it has none */
    /* The row for fast accuracy, the same for callers and users but with costs of its own; NULL:
     * this one serves both. */
    const struct syi_workload *fast;
    const char *tag; /* under which profiles are kept; NULL: the name */
    /* Set for a user's workload: it is run tile by tile through these. */
    const sy_workload_def *user;
} syi_workload;

/* The tag of a profile when the caller gives none. */
SYI_INLINE const char *syi_workload_tag(const syi_workload *workload)
{
    return workload->tag ? workload->tag : workload->name;
}

/* The one NaN of the library, 0x7ff8000000000000. */
SYI_INLINE double syi_nan(void)
{
    return syi_from_bits(UINT64_C(0x7ff8000000000000));
}

/* The built-in workloads, in the order of kernels/workloads.def; NULL past the end. */
const syi_workload *syi_builtin(int index);
/* The best of the instruction sets that this processor has. */
syi_isa syi_isa_detect(void);
const char *syi_isa_name(syi_isa isa);

#endif
