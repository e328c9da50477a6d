/*
 * The rolling extremes on a GPU. A block computes a unit: it doubles windows in shared memory until
 * two of them cover one. Of a window longer than the unit it holds the two ends, which differ from
 * column to column; the columns between them are in every window of the unit.
 */
#ifndef SYI_KERNELS_EXTREME_ROLLING_UNIT_H
#define SYI_KERNELS_EXTREME_ROLLING_UNIT_H

#include "cuda/forms.h"

#include "extreme/order.h"

#define ROLLING_WARPS   (SYI_WINDOW_UNIT_THREADS / SYI_WARP)
#define ROLLING_KEYS    (2 * SYI_WINDOW_UNIT_COLUMNS)
#define KEYS_PER_THREAD (ROLLING_KEYS / SYI_WINDOW_UNIT_THREADS)

typedef struct rolling_shared {
    int64_t key[ROLLING_KEYS];
    int64_t between[ROLLING_WARPS];
} rolling_shared;

/* x[0] is the unit's first column; there are `left` before it. */
typedef struct rolling_task {
    const double *x;
    int64_t left, count, period;
    int length; /* of the windows in shared memory */
    int greatest;
} rolling_task;

SYI_DEVICE int64_t rolling_lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What is not finite is less than any number. */
SYI_DEVICE int64_t rolling_key_at(const rolling_task *task, int64_t column)
{
    if (column < -task->left || column >= task->count)
        return SYI_ORDER_MOST;
    const double x = task->x[column];
    return syi_is_finite(x) ? syi_order_of(x, task->greatest) : SYI_ORDER_LEAST;
}

/* The windows' ends, one after the other. */
SYI_DEVICE void rolling_load(const rolling_task *task, rolling_shared *shared)
{
    for (int i = SYI_THREAD; i < ROLLING_KEYS; i += SYI_WINDOW_UNIT_THREADS) {
        int64_t column = i - (task->length - 1);
        shared->key[i] =
            rolling_key_at(task, column < 0 ? column - (task->period - task->length) : column);
    }
}

/* The least of what is in all windows. */
SYI_DEVICE int64_t rolling_between(const rolling_task *task, rolling_shared *shared)
{
    int64_t least = SYI_ORDER_MOST;
    int64_t first = task->length - task->period;
#pragma unroll 1
    for (int64_t i = first + SYI_THREAD; i < 0; i += SYI_WINDOW_UNIT_THREADS)
        least = rolling_lesser(rolling_key_at(task, i), least);
    for (int by = SYI_WARP / 2; by > 0; by /= 2)
        least = rolling_lesser((int64_t)syi_shuffle_xor((uint64_t)least, by), least);
    if (SYI_THREAD % SYI_WARP == 0)
        shared->between[SYI_THREAD / SYI_WARP] = least;
    SYI_SYNC();
    for (int w = 0; w < ROLLING_WARPS; w++)
        least = rolling_lesser(shared->between[w], least);
    return least;
}

/* key[i] becomes the least of the 2 * reach ones from i on. */
SYI_DEVICE void rolling_double(rolling_shared *shared, int reach)
{
    int64_t key[KEYS_PER_THREAD];
#pragma unroll
    for (int k = 0; k < KEYS_PER_THREAD; k++) {
        int i = SYI_THREAD + k * SYI_WINDOW_UNIT_THREADS;
        key[k] = shared->key[i];
        if (i + reach < ROLLING_KEYS)
            key[k] = rolling_lesser(key[k], shared->key[i + reach]);
    }
    SYI_SYNC();
#pragma unroll
    for (int k = 0; k < KEYS_PER_THREAD; k++)
        shared->key[SYI_THREAD + k * SYI_WINDOW_UNIT_THREADS] = key[k];
    SYI_SYNC();
}

SYI_DEVICE void syi_rolling_unit(const syi_launch *launch, int greatest)
{
    __shared__ rolling_shared shared;
    syi_unit unit = syi_unit_of(launch, SYI_BLOCK);
    int64_t period = (int64_t)launch->params[0];
    int64_t begin = period - 1 - launch->first - unit.at; /* the first column with a value */
    int length = (int)(period < SYI_WINDOW_UNIT_COLUMNS ? period : SYI_WINDOW_UNIT_COLUMNS);
    rolling_task task = {syi_unit_in(launch, &unit, launch->in[0]),
                         launch->left + unit.at,
                         unit.count,
                         period,
                         length,
                         greatest};
    double *out = syi_unit_out(launch, &unit, launch->out[0]);
    int reach = 1;
    rolling_load(&task, &shared);
    int64_t between = rolling_between(&task, &shared);
    for (; 2 * reach <= length; reach *= 2)
        rolling_double(&shared, reach);
    for (int64_t i = SYI_THREAD; i < unit.count; i += SYI_WINDOW_UNIT_THREADS) {
        int64_t least = rolling_lesser(shared.key[i], shared.key[i + length - reach]);
        least = rolling_lesser(least, between);
        out[i] = i < begin || least == SYI_ORDER_LEAST ? syi_nan() : syi_of_order(least, greatest);
    }
    if (SYI_THREAD == 0)
        syi_unit_doubt(launch, &unit, 0, 0);
}

#endif
