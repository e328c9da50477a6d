/*
 * variance: sum (x - mean)^2 / (columns - ddof) of a row. NaN for a row with values that are not
 * finite, and for one of no more than ddof columns. The sums are exact integers, so the only
 * rounding is the last one.
 */
#include "cuda/forms.h"
#include "element/inputs.h"
#include "exact/decide.h"
#include "exact/limbs.h"
#include "fast/reduce.h"
#include "isa.h"
#include "variance/moments.h"

SYI_ISA_DECLARE(syi_variance_run);
SYI_ISA_DECLARE(syi_variance_fast_run);

static int bit_length(const uint64_t *a, int limbs)
{
    while (limbs > 0 && a[limbs - 1] == 0)
        limbs--;
    return limbs == 0 ? 0 : 64 * limbs - __builtin_clzll(a[limbs - 1]);
}

static void shift_left(uint64_t *a, int limbs, int bits)
{
    int whole = bits / 64, part = bits % 64;
    for (int k = limbs - 1; k >= 0; k--) {
        uint64_t high = k >= whole ? a[k - whole] : 0, low = k > whole ? a[k - whole - 1] : 0;
        a[k] = high << part | low >> 1 >> (63 - part);
    }
}

static void add(uint64_t *a, const uint64_t *b, int limbs)
{
    uint64_t carry = 0;
    for (int k = 0; k < limbs; k++) {
        syi_u128 sum = (syi_u128)a[k] + b[k] + carry;
        a[k] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

/* Expresses the sums in units of 2^bottom, with room for adding as much again; 0 if there is none.
 */
static int rescale(moments *m, int bottom)
{
    int64_t shift = (int64_t)m->bottom - bottom;
    uint64_t sum[SUM_LIMBS];
    memcpy(sum, m->sum, sizeof sum);
    syi_limbs_magnitude(sum, SUM_LIMBS);
    if (bit_length(sum, SUM_LIMBS) + shift > 64 * SUM_LIMBS - 3 ||
        bit_length(m->squares, SQUARES_LIMBS) + 2 * shift > 64 * SQUARES_LIMBS - 3)
        return 0;
    shift_left(m->sum, SUM_LIMBS, (int)shift);
    shift_left(m->squares, SQUARES_LIMBS, 2 * (int)shift);
    m->bottom = bottom;
    return 1;
}

static void combine(void *into, const void *right)
{
    moments *a = into, b = *(const moments *)right;
    if (a->state != MOMENTS_HELD || b.state != MOMENTS_HELD) {
        a->state = a->state > b.state ? a->state : b.state;
        return;
    }
    if (bit_length(b.squares, SQUARES_LIMBS) == 0)
        return;
    if (bit_length(a->squares, SQUARES_LIMBS) == 0) {
        *a = b;
        return;
    }
    int bottom = a->bottom < b.bottom ? a->bottom : b.bottom;
    if (!rescale(a, bottom) || !rescale(&b, bottom)) {
        a->state = MOMENTS_TOO_WIDE;
        return;
    }
    add(a->sum, b.sum, SUM_LIMBS);
    add(a->squares, b.squares, SQUARES_LIMBS);
}

/* The rounded variance from sums of `limbs` and 2 * limbs limbs. */
static double variance_of(const uint64_t *sum, const uint64_t *squares, int limbs, int bottom,
                          int64_t count, int64_t free)
{
    uint64_t spread[SYI_SQUARES_LIMBS];
    syi_big number;
    syi_limbs_spread(spread, sum, squares, limbs, (uint64_t)count);
    syi_big_set(&number, spread, 2 * limbs);
    return syi_decide_quotient(0, &number, 2 * (int64_t)bottom, (uint64_t)count, (uint64_t)free);
}

static void finish(const void *partial, int64_t columns, const double *params, double *outputs,
                   int *doubt)
{
    const moments *m = partial;
    int64_t free = columns - (int64_t)params[0];
    uint64_t sum[SUM_LIMBS + 1], squares[2 * (SUM_LIMBS + 1)] = {0};
    outputs[0] = syi_nan();
    if (free <= 0 || m->state == MOMENTS_NOT_FINITE)
        return;
    if (m->state == MOMENTS_TOO_WIDE) {
        *doubt = 1;
        return;
    }
    /* One more limb makes room for the factor `columns`. */
    memcpy(sum, m->sum, sizeof m->sum);
    sum[SUM_LIMBS] = sum[SUM_LIMBS - 1] >> 63 ? UINT64_MAX : 0;
    memcpy(squares, m->squares, sizeof m->squares);
    outputs[0] = variance_of(sum, squares, SUM_LIMBS + 1, m->bottom, columns, free);
}

static void add_value(uint64_t *sum, uint64_t *squares, double x)
{
    const syi_parts parts = syi_split(x);
    const int shift = parts.exponent - SYI_BOTTOM;
    syi_limbs_add(sum, SYI_SUM_LIMBS, parts.mantissa, shift, parts.negative);
    syi_limbs_add(squares, SYI_SQUARES_LIMBS, (syi_u128)parts.mantissa * parts.mantissa, 2 * shift,
                  0);
}

static sy_status repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past)
{
    enum { SOME = 512 };
    uint64_t sum[SYI_SUM_LIMBS] = {0}, squares[SYI_SQUARES_LIMBS] = {0};
    const syi_inputs in = syi_inputs_of(row, past);
    const int64_t columns = row->columns, free = columns - (int64_t)row->params[0];
    double room[SOME];
    int finite = 1;
    (void)first, (void)last;
    for (int64_t at = 0; at < columns && finite; at += SOME) {
        const int64_t count = columns - at < SOME ? columns - at : SOME;
        const double *x = syi_inputs_at(&in, 0, at, count, room);
        for (int64_t i = 0; i < count && (finite = syi_is_finite(x[i])); i++)
            add_value(sum, squares, x[i]);
    }
    row->out[0][0] = finite && free > 0
                         ? variance_of(sum, squares, SYI_SUM_LIMBS, SYI_BOTTOM, columns, free)
                         : syi_nan();
    return SY_OK;
}

static const sy_param_info params[] = {{.name = "ddof",
                                        .summary = "what is taken from the count in the divisor",
                                        .max = 0x1p40,
                                        .is_integer = 1}};

static int64_t warmup(const double *params)
{
    return (int64_t)params[0]; /* the divisor is positive from there on */
}

static const syi_gpu_form gpu = SYI_TILE_FORM("syi_gpu_variance");
static const syi_gpu_form gpu_fast = SYI_TILE_FORM("syi_gpu_variance_fast");

static void finish_fast(const void *partial, int64_t columns, const double *params, double *outputs,
                        int *doubt)
{
    double free = (double)columns - params[0];
    (void)doubt;
    outputs[0] =
        free > 0.0 ? syi_fast_clean(((const syi_fast_spread *)partial)->squares / free) : syi_nan();
}

static const char *const input_names[] = {"x"};
static const char *const output_names[] = {"variance"};

/* What the rows of both accuracies have in common. */
#define VARIANCE_FACE                                                                              \
    .name = "variance", .summary = "variance of a row, of the population unless ddof is given",    \
    .pattern = SY_PATTERN_REDUCE, .n_inputs = 1, .n_outputs = 1, .n_params = 1,                    \
    .input_names = input_names, .output_names = output_names, .params = params, .warmup = warmup

static const syi_workload fast = {
    VARIANCE_FACE,
    .version = 2,
    .tag = "variance_fast",
    .run = {SYI_ISA_LIST(syi_variance_fast_run)},
    .partial_size = sizeof(syi_fast_spread),
    .combine = syi_fast_spread_merge,
    .finish = finish_fast,
    .takes_floats = 1,
    .gpu = &gpu_fast,
};

const syi_workload syi_workload_variance = {
    VARIANCE_FACE,
    .version = 2,
    .run = {SYI_ISA_LIST(syi_variance_run)},
    .partial_size = sizeof(moments),
    .combine = combine,
    .finish = finish,
    .repair = repair,
    .gpu = &gpu,
    .fast = &fast,
};
