/* What a context plans, for the suites of what it has learned. */
#ifndef TESTS_PLANNED_H
#define TESTS_PLANNED_H

#include <criterion/criterion.h>
#include <steelyard/steelyard.h>

/* Tiles of a row of sma that a device would get. */
static inline int64_t planned_tiles(sy_context *context, int64_t columns, sy_dtype dtype,
                                    int device)
{
    sy_work work = {.struct_size = sizeof work,
                    .workload = "sma",
                    .rows = 1,
                    .columns = columns,
                    .dtype = dtype};
    sy_plan_info plan = {.struct_size = sizeof plan};
    int64_t tiles;
    cr_assert_eq(sy_plan_explain(context, &work, NULL, &plan), SY_OK);
    cr_assert_lt(device, plan.n_devices);
    tiles = plan.devices[device].tiles;
    sy_plan_info_clear(&plan);
    return tiles;
}

#endif
