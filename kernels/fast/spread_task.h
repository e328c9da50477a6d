/*
 * A chunk of windows whose spreads are computed in fast accuracy, and the results it gives. For
 * fast/spread_run.h, whose includer says by SYI_SPREAD_KIND what is wanted of the spreads.
 */
#ifndef SYI_KERNELS_FAST_SPREAD_TASK_H
#define SYI_KERNELS_FAST_SPREAD_TASK_H

#include "fast/late.h"
#include "fast/spread.h"

enum { OUTPUTS = SYI_SPREAD_OUTPUTS };
_Static_assert(OUTPUTS == (SYI_SPREAD_KIND == SYI_WINDOW_BANDS ? 3 : 1), "outputs of this kind");
enum { SCORES = SYI_SPREAD_KIND == SYI_WINDOW_SCORE, MARKED = SCORES && SYI_SCORES_MARKED };

/* Whether the vector with this number is made by products where the divider is `slow`: so many that
 * neither that nor the other units wait long for each other. Bands of short windows do not gain by
 * it, nor what is scanned and goes past the cache but scores. */
SYI_INLINE int by_products(int slow, int number)
{
    return slow && (SCORES ? number % 2 == 1 : number % 4 == 1);
}

/* Windows, in whole rounds of fast/spread_run.h; x[j] is the newest column of window j. There are
 * SPREAD_BEFORE columns more before the first window's. */
typedef struct task {
    const double *x;
    double *out[OUTPUTS];
    int64_t period, windows;
    syi_distance ahead; /* at which values are asked for */
    double factor;      /* syi_spread_factor */
    int products;       /* syi_divides_slowly */
    syi_spread_weights by;
    int past; /* results go past the cache: the outputs begin lines */
    int late; /* and some of them behind others: */
    int64_t lag[OUTPUTS];
} task;

/* Puts an output of window j; with `late`, past the cache, what has waited in its stead. */
SYI_INLINE void put_result(const task *t, syi_late *late, int k, int64_t j, syi_vector what)
{
    if (late && k > 0) {
        syi_late_keep(late, k, j, what);
        j -= late->lag[k];
        if (j >= 0)
            syi_store_past(t->out[k] + j, syi_late_kept(late, k, j));
    } else if (late || t->past) {
        syi_store_past(t->out[k] + j, what);
    } else {
        SYI_STORE(t->out[k] + j, what);
    }
}

/* Puts what still waits. */
SYI_INLINE void put_late(const task *t, const syi_late *late)
{
    for (int k = 1; k < OUTPUTS && late; k++)
        for (int64_t j = t->windows > late->lag[k] ? t->windows - late->lag[k] : 0; j < t->windows;
             j += SYI_WIDTH)
            syi_store_past(t->out[k] + j, syi_late_kept(late, k, j));
}

/* What comes of a window. Gives what tells whether something is still to be marked. Flat windows
 * have no score, and what has gone past the cache would have to be fetched to be marked: such
 * scores are marked at once. */
SYI_INLINE syi_vector result(const task *t, syi_late *late, int64_t j, const syi_spread *all,
                             int products)
{
    syi_vector out[3], newest = {0};
    if (SYI_SPREAD_KIND == SYI_WINDOW_BANDS)
        newest = SYI_LOAD(t->x + j);
    syi_spread_result(SYI_SPREAD_KIND, t->factor, newest, all, products, out);
    if (SCORES && !MARKED && t->past)
        out[0] = syi_marked(out[0]);
    for (int k = 0; k < OUTPUTS; k++)
        put_result(t, late, k, j, out[k]);
    return SCORES && (MARKED || t->past) ? newest : out[0];
}

/* Where the first of some arrays is not finite there is nothing. */
static void mark(double *const *y, int arrays, int64_t count)
{
    for (int k = arrays; --k > 0;)
        for (int64_t j = 0; j < count; j++)
            if (!syi_is_finite(y[0][j]))
                y[k][j] = syi_nan();
    syi_fast_mark(y[0], count);
}

#endif
