/*
 * The split against searches over all possibilities, and whole calls in virtual time: what share of
 * the ideal is reached with a profile, without one, with a wrong one, when a device changes or
 * fails. No clock: the numbers are the same on every machine.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/drift.h"
#include "model/split.h"
#include "support/virtual_run.h"

/* ---- split ---- */

enum { FEW = 4 };

typedef struct problem {
    syi_cost costs[VIRTUAL_DEVICES];
    syi_split_device devices[VIRTUAL_DEVICES];
    int count;
    syi_split_work work;
    syi_part parts[VIRTUAL_DEVICES];
    syi_split split;
} problem;

static void set_device(problem *p, int i, double in, double fixed, double compute, double out)
{
    p->costs[i] = (syi_cost){{in > 0 ? syi_curve_line(fixed / 4, in) : (syi_curve){0},
                              syi_curve_line(fixed / 2, compute),
                              out > 0 ? syi_curve_line(fixed / 4, out) : (syi_curve){0}}};
    p->devices[i] = (syi_split_device){.cost = &p->costs[i], .link = -1};
}

static int64_t total(const problem *p)
{
    int64_t sum = 0;
    for (int i = 0; i < p->count; i++)
        sum += p->parts[i].tiles;
    return sum;
}

static sy_status make(problem *p)
{
    return syi_split_make(p->devices, p->count, &p->work, p->parts, &p->split);
}

/* The least makespan of all integer splits, tried one by one. */
static double best_of_all(const problem *p, int device, int64_t left, syi_part *parts)
{
    double best = INFINITY;
    if (device == p->count - 1) {
        syi_split split;
        parts[device].tiles = left;
        syi_split_predict(p->devices, p->count, &p->work, parts, &split);
        return split.makespan_ns;
    }
    for (int64_t k = 0; k <= left; k++) {
        parts[device].tiles = k;
        best = fmin(best, best_of_all(p, device + 1, left - k, parts));
    }
    return best;
}

static void random_problem(problem *p, uint64_t seed, int shared)
{
    double u[40];
    for (uint64_t k = 0; k < 40; k++)
        u[k] = virtual_uniform(seed, k);
    p->count = 2 + (int)(u[0] * (FEW - 1));
    p->work = (syi_split_work){1 + (int64_t)(u[1] * 14), 4096, 4096 * 16};
    for (int i = 0; i < p->count; i++) {
        const double *v = u + 2 + 8 * i;
        set_device(p, i, v[0] < 0.3 ? 0 : v[1], 50000 * v[2] * v[2], 0.1 + 3 * v[3], v[4] * 0.5);
        p->devices[i].way = (syi_way)(v[5] * 3);
        p->devices[i].chunk_tiles = 1 + (int64_t)(v[6] * 5);
        if (p->devices[i].way != SYI_WAY_WHOLE)
            p->devices[i].memory = v[7] < 0.3 ? 4096 * 16 * 3 : 0;
        p->devices[i].link = shared ? (int)(v[7] * 2) : -1;
    }
    p->costs[0].phase[SYI_COMPUTE].pieces = 2; /* one has a cache */
    p->costs[0].phase[SYI_COMPUTE].until[0] = 10000;
    p->costs[0].phase[SYI_COMPUTE].per_element_ns[1] =
        2 * p->costs[0].phase[SYI_COMPUTE].per_element_ns[0];
}

/* Without shared links the split is not only good: no other has a smaller makespan. */
Test(split, is_the_best_of_all_integer_splits)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        problem p = {0};
        syi_part parts[VIRTUAL_DEVICES] = {0};
        double best;
        random_problem(&p, seed, 0);
        cr_assert_eq(make(&p), SY_OK);
        cr_assert_eq(total(&p), p.work.tiles);
        best = best_of_all(&p, 0, p.work.tiles, parts);
        cr_assert(p.split.makespan_ns <= best * (1 + 1e-9), "seed %d: %g, best %g", (int)seed,
                  p.split.makespan_ns, best);
    }
}

Test(split, on_shared_links_is_near_the_best)
{
    double worst = 1;
    for (uint64_t seed = 0; seed < 400; seed++) {
        problem p = {0};
        syi_part parts[VIRTUAL_DEVICES] = {0};
        double best;
        random_problem(&p, seed, 1);
        cr_assert_eq(make(&p), SY_OK);
        cr_assert_eq(total(&p), p.work.tiles);
        best = best_of_all(&p, 0, p.work.tiles, parts);
        if (p.split.makespan_ns / best > 1.03)
            fprintf(stderr, "seed %d: %g\n", (int)seed, p.split.makespan_ns / best);
        worst = fmax(worst, p.split.makespan_ns / best);
    }
    cr_expect_leq(worst, 1.03, "%g times the best", worst);
}
