/* Partials that come in any cuts, order and number of times, against the canonical tree itself. */
#include "device/partials.h"

#include "base/mem.h"
#include "base/philox.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MOST = 3000 };

/* Neither commutative nor associative: another order shows. */
static void combine(void *into, const void *right)
{
    uint64_t a, b;
    memcpy(&a, into, sizeof a);
    memcpy(&b, right, sizeof b);
    a = (a ^ UINT64_C(0x9e3779b97f4a7c15)) * 31 + (b << 7) + (b >> 57);
    memcpy(into, &a, sizeof a);
}

static int combine_for_user(void *into, const void *right, const double *params)
{
    (void)params;
    combine(into, right);
    return 0;
}

static const syi_workload workload = {
    .pattern = SY_PATTERN_REDUCE, .partial_size = sizeof(uint64_t), .combine = combine};

static uint64_t value_of(int64_t tile)
{
    return syi_random(5, 1, (uint64_t)tile);
}

static uint64_t random_below(uint64_t *seed, uint64_t end)
{
    return syi_random(7, 2, (*seed)++) % end;
}

/* The tree from its definition: the left subtree is the largest power of two of tiles. */
static uint64_t tree(int64_t first, int64_t tiles)
{
    uint64_t left, right;
    int64_t half = 1;
    if (tiles == 1)
        return value_of(first);
    while (half * 2 < tiles)
        half *= 2;
    left = tree(first, half);
    right = tree(first + half, tiles - half);
    combine(&left, &right);
    return left;
}

static sy_status put(const syi_job *job, int64_t first, int64_t count)
{
    static uint64_t room[MOST];
    for (int64_t i = 0; i < count; i++)
        room[i] = value_of(first + i);
    return syi_partials_put(job, first, count, (unsigned char *)room);
}

/* All tiles in random cuts, from random ends, some of them again. */
static sy_status put_all(const syi_job *job, int64_t tiles, uint64_t *seed)
{
    int64_t from = 0, to = tiles;
    while (from < to) {
        int64_t count = 1 + (int64_t)random_below(seed, random_below(seed, 3) ? 200 : 3);
        count = count < to - from ? count : to - from;
        if (random_below(seed, 2)) {
            SYI_TRY(put(job, from, count));
            from += count;
        } else {
            to -= count;
            SYI_TRY(put(job, to, count));
        }
        if (random_below(seed, 4) == 0) {
            int64_t again = (int64_t)random_below(seed, (uint64_t)tiles);
            count = 1 + (int64_t)random_below(seed, (uint64_t)(tiles - again));
            SYI_TRY(put(job, again, count));
        }
    }
    return SY_OK;
}

static sy_status run(syi_job *job, int64_t per_row, uint64_t *seed)
{
    unsigned char *nodes;
    int64_t count;
    sy_status status;
    SYI_TRY(syi_partials_create(job, &job->partials));
    status = put_all(job, job->rows * per_row, seed);
    if (status == SY_OK)
        status = syi_partials_nodes(job, &nodes, &count);
    for (int64_t row = 0; status == SY_OK && row < job->rows; row++) {
        uint64_t found, wanted = tree(row * per_row, per_row);
        unsigned char *own = nodes + (size_t)(row * count) * sizeof found;
        status = syi_partials_fold(job, own, count);
        memcpy(&found, own, sizeof found);
        cr_expect_eq(found, wanted, "row %lld of %lld tiles", (long long)row, (long long)per_row);
    }
    syi_partials_destroy(&job->partials);
    return status;
}

Test(partials, fold_in_the_canonical_tree)
{
    uint64_t seed = 0;
    for (int i = 0; i < 400; i++) {
        int64_t per_row = 1 + (int64_t)random_below(&seed, i % 2 ? 40 : 1000);
        syi_job job = {.workload = &workload,
                       .rows = 1 + (int64_t)random_below(&seed, (uint64_t)(MOST / per_row)),
                       .columns = per_row * SYI_TILE - (int64_t)random_below(&seed, SYI_TILE)};
        cr_assert_eq(run(&job, per_row, &seed), SY_OK);
    }
}

/* Where each tile must stay by itself: a seed's order, and a user's own functions. */
Test(partials, keep_every_tile_when_they_have_to)
{
    static const sy_workload_def user = {.combine = combine_for_user};
    const syi_workload own = {
        .pattern = SY_PATTERN_REDUCE, .partial_size = sizeof(uint64_t), .user = &user};
    for (int i = 0; i < 4; i++) {
        syi_job job = {.workload = i == 3 ? &own : &workload, .rows = 1, .columns = 700 * SYI_TILE};
        uint64_t seed = 99;
        unsigned char *nodes;
        int64_t count;
        job.moves = i > 0;
        job.seed = i == 1;
        job.n_seeds = i == 2;
        cr_assert_eq(run(&job, 700, &seed), SY_OK);
        cr_assert_eq(syi_partials_create(&job, &job.partials), SY_OK);
        cr_assert_eq(syi_partials_nodes(&job, &nodes, &count), SY_OK);
        cr_expect_eq(count, i == 0 ? (700 + SYI_TILE_GROUP - 1) / SYI_TILE_GROUP : 700);
        syi_partials_destroy(&job.partials);
    }
}

Test(partials, survive_the_lack_of_memory)
{
    const int64_t alive = syi_mem_alive();
    int refused = 0;
    for (int64_t k = 1; k <= 40; k++) {
        syi_job job = {.workload = &workload, .rows = 2, .columns = 900 * SYI_TILE};
        uint64_t seed = 3;
        sy_status status;
        syi_mem_fail_at(k);
        status = run(&job, 900, &seed);
        syi_mem_fail_at(0);
        cr_expect(status == SY_OK || status == SY_ERR_MEMORY);
        refused += status != SY_OK;
        cr_expect_eq(syi_mem_alive(), alive);
    }
    cr_expect_gt(refused, 10);
}
