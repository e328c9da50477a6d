/*
 * A long stretch of a recurrence in eight lanes, stepped together: the loops over lanes become
 * vector instructions. A lane is to its left neighbour what a piece is to its own: it starts from
 * an assumed state, and if that does not agree with the neighbour's end it is run again alone.
 */
#ifndef SYI_KERNELS_RECURRENCE_LANES_H
#define SYI_KERNELS_RECURRENCE_LANES_H

#include "recurrence/phase.h"

/* Only where the compiler has an instruction for fma(); calling it costs more than lanes gain. */
#ifdef FP_FAST_FMA
#define SYI_HAVE_LANES 1
#else
#define SYI_HAVE_LANES 0
#endif

/* Before a loop over lanes: they do not depend on one another. */
#if defined(__clang__)
#define SYI_LANES_APART _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SYI_LANES_APART _Pragma("GCC ivdep")
#else
#define SYI_LANES_APART
#endif

#define SYI_LANES      8
#define SYI_LANE_CHUNK 32
#define SYI_LANE_MOST                                                                              \
    INT64_C(16384) /* columns of a lane: what eight of them read stays in cache                    \
                    */
#define SYI_CARRY_WORDS ((int)(sizeof(syi_carry) / sizeof(double)))

typedef struct syi_lanes {
    double state[SYI_CARRY_WORDS][SYI_LANES];
    double x[SYI_LANE_CHUNK][SYI_LANES];
    double y[3][SYI_LANE_CHUNK][SYI_LANES];
    double doubt[SYI_LANE_CHUNK][SYI_LANES];
} syi_lanes;

/* A recurrence as the lanes need it. `task` is its own. */
typedef struct syi_lane_form {
    int outputs;
    int64_t decay; /* columns that a lane runs before its own */
    int (*agrees)(const syi_carry *assumed, const syi_carry *end);
    void (*assume)(syi_carry *state, const double *x, int64_t count); /* before x[0] */
    void (*claim)(syi_carry *state);                                  /* widens the error bounds */
    void (*step)(const void *task, syi_lanes *lanes, int count);      /* as many rows of x */
    sy_status (*alone)(const void *task, syi_carry *state, int64_t from, int64_t to);
} syi_lane_form;

typedef struct syi_lane_place {
    const double *x;
    double *const *y;
    int64_t first, row; /* column of x[0] */
    syi_doubts *doubts;
} syi_lane_place;

SYI_INLINE void syi_lane_set(syi_lanes *lanes, int lane, const syi_carry *state)
{
    for (int w = 0; w < SYI_CARRY_WORDS; w++)
        lanes->state[w][lane] = state->word[w];
}

SYI_INLINE void syi_lane_get(const syi_lanes *lanes, int lane, syi_carry *state)
{
    for (int w = 0; w < SYI_CARRY_WORDS; w++)
        state->word[w] = lanes->state[w][lane];
}

/* The columns [at, at + count) of each lane; starts[lane] is its column 0. */
static void syi_lanes_step(const syi_lane_form *form, const void *task, const double *x,
                           const int64_t *starts, int64_t at, int count, syi_lanes *lanes)
{
    for (int lane = 0; lane < SYI_LANES; lane++)
        for (int i = 0; i < count; i++)
            lanes->x[i][lane] = x[starts[lane] + at + i];
    form->step(task, lanes, count);
}

static sy_status syi_lanes_put(const syi_lane_form *form, const syi_lane_place *place,
                               const syi_lanes *lanes, const int64_t *starts, int64_t at, int count)
{
    for (int lane = 0; lane < SYI_LANES; lane++) {
        int64_t to = starts[lane] + at;
        double doubts = 0.0;
        for (int k = 0; k < form->outputs; k++)
            for (int i = 0; i < count; i++)
                place->y[k][to + i] = lanes->y[k][i][lane];
        for (int i = 0; i < count; i++)
            doubts += lanes->doubt[i][lane];
        for (int i = 0; doubts != 0.0 && i < count; i++)
            if (lanes->doubt[i][lane] != 0.0)
                SYI_TRY(syi_doubts_add(place->doubts, place->row, place->first + to + i));
    }
    return SY_OK;
}

/* What the lanes assume at their beginnings, and what they claim of it; lane 0 knows. */
static void syi_lanes_warm(const syi_lane_form *form, const void *task, const double *x,
                           int64_t from, int64_t length, syi_lanes *lanes, syi_carry *assumed)
{
    int64_t starts[SYI_LANES];
    syi_carry state;
    for (int lane = 0; lane < SYI_LANES; lane++) {
        /* Lane 0 runs along with lane 1's data; its state is not used. */
        starts[lane] = from + (lane ? lane : 1) * length - form->decay;
        form->assume(&state, x + starts[lane], form->decay);
        syi_lane_set(lanes, lane, &state);
    }
    for (int64_t at = 0; at < form->decay; at += SYI_LANE_CHUNK) {
        int64_t rest = form->decay - at;
        int count = rest < SYI_LANE_CHUNK ? (int)rest : SYI_LANE_CHUNK;
        syi_lanes_step(form, task, x, starts, at, count, lanes);
    }
    for (int lane = 1; lane < SYI_LANES; lane++) {
        syi_lane_get(lanes, lane, &assumed[lane]);
        form->claim(&assumed[lane]);
        syi_lane_set(lanes, lane, &assumed[lane]);
    }
    syi_lane_set(lanes, 0, &assumed[0]);
}

/* Columns [from, from + SYI_LANES * length), all in range; `state` is the one before them. */
static sy_status syi_lanes_slab(const syi_lane_form *form, const void *task,
                                const syi_lane_place *place, syi_carry *state, int64_t from,
                                int64_t length)
{
    syi_lanes lanes;
    syi_carry assumed[SYI_LANES], end;
    int64_t starts[SYI_LANES];
    assumed[0] = *state;
    syi_lanes_warm(form, task, place->x, from, length, &lanes, assumed);
    for (int lane = 0; lane < SYI_LANES; lane++)
        starts[lane] = from + lane * length;
    for (int64_t at = 0; at < length; at += SYI_LANE_CHUNK) {
        int64_t rest = length - at;
        int count = rest < SYI_LANE_CHUNK ? (int)rest : SYI_LANE_CHUNK;
        syi_lanes_step(form, task, place->x, starts, at, count, &lanes);
        SYI_TRY(syi_lanes_put(form, place, &lanes, starts, at, count));
    }
    syi_lane_get(&lanes, 0, state);
    for (int lane = 1; lane < SYI_LANES; lane++) {
        syi_lane_get(&lanes, lane, &end);
        if (!form->agrees(&assumed[lane], state)) {
            end = *state;
            SYI_TRY(form->alone(task, &end, starts[lane], starts[lane] + length));
        }
        *state = end;
    }
    return SY_OK;
}

/* As many columns of [from, to) as make full lanes and stay in range; *reached is the next one. */
static sy_status syi_lanes_run(const syi_lane_form *form, const void *task,
                               const syi_lane_place *place, syi_carry *state, int64_t from,
                               int64_t to, int64_t *reached)
{
    const int64_t least = form->decay < 64 ? 64 : form->decay;
    for (*reached = from; to - *reached >= SYI_LANES * least;) {
        int64_t length = (to - *reached) / SYI_LANES;
        if (length > SYI_LANE_MOST && length > 4 * least)
            length = SYI_LANE_MOST > 4 * least ? SYI_LANE_MOST : 4 * least;
        if (!syi_all_in_range(place->x + *reached, SYI_LANES * length))
            return SY_OK;
        SYI_TRY(syi_lanes_slab(form, task, place, state, *reached, length));
        *reached += SYI_LANES * length;
    }
    return SY_OK;
}

#endif
