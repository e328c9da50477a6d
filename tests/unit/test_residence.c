/* Costs where the arrays live: exact curves, and that a plan goes to the data. */
#include "base/mem.h"
#include "plan/residence.h"

#include "device/place.h"
#include "plan/plan.h"

#include <criterion/criterion.h>

enum { CPU, NEAR, FAR, DEVICES };

/* Two GPUs beside a CPU that is as fast; a workload of two inputs and one output. */
typedef struct machine {
    syi_backend backend;
    syi_device device[DEVICES];
    syi_device *list[DEVICES];
    syi_devices devices;
    syi_cost costs[DEVICES];
    syi_workload workload;
    syi_places places;
    syi_job job;
} machine;

static void set_up(machine *m)
{
    *m = (machine){.workload = {.pattern = SY_PATTERN_MAP, .n_inputs = 2, .n_outputs = 1}};
    for (int i = 0; i < DEVICES; i++) {
        m->device[i] = (syi_device){.backend = &m->backend, .index = i, .home = i};
        m->device[i].info.usable = 1;
        m->device[i].info.memory_free = SIZE_MAX;
        m->device[i].info.type = i == CPU ? SY_DEVICE_CPU : SY_DEVICE_CUDA;
        m->list[i] = &m->device[i];
        m->costs[i].phase[SYI_COMPUTE] = syi_curve_line(1000, 1);
        if (i == CPU)
            continue;
        m->costs[i].phase[SYI_COPY_IN] = syi_curve_line(800, 0.5);
        m->costs[i].phase[SYI_COPY_OUT] = syi_curve_line(700, 0.25);
    }
    m->devices.list = m->list;
    m->devices.count = DEVICES;
    m->job = (syi_job){.workload = &m->workload,
                       .rows = 1,
                       .columns = 1000 * SYI_TILE,
                       .dtype = SY_F64,
                       .places = &m->places};
}

static syi_place on(machine *m, int device)
{
    return (syi_place){
        .kind = SYI_ON_DEVICE, .home = m->device[device].home, .owner = &m->device[device]};
}

static void expect_line(const syi_curve *curve, double fixed_ns, double per_element_ns)
{
    cr_expect_eq(curve->pieces, 1);
    cr_expect_eq(curve->fixed_ns, fixed_ns);
    cr_expect_eq(curve->per_element_ns[0], per_element_ns);
}

Test(residence, arrays_of_the_host_cost_what_was_measured)
{
    machine m, before;
    set_up(&m);
    before = m;
    syi_residence_apply(&m.devices, &m.job, m.costs);
    for (int i = 0; i < DEVICES; i++)
        for (int p = 0; p < SYI_PHASES; p++)
            cr_expect_eq(syi_curve_ns(&m.costs[i].phase[p], 12345),
                         syi_curve_ns(&before.costs[i].phase[p], 12345));
}

Test(residence, who_owns_all_copies_nothing)
{
    machine m;
    set_up(&m);
    m.places.in[0] = m.places.in[1] = m.places.out[0] = on(&m, NEAR);
    syi_residence_apply(&m.devices, &m.job, m.costs);
    cr_expect_eq(m.costs[NEAR].phase[SYI_COPY_IN].pieces, 0);
    cr_expect_eq(m.costs[NEAR].phase[SYI_COPY_OUT].pieces, 0);
    expect_line(&m.costs[NEAR].phase[SYI_COMPUTE], 1000, 1);
    expect_line(&m.costs[FAR].phase[SYI_COPY_IN], 800, 0.5);
    expect_line(&m.costs[FAR].phase[SYI_COPY_OUT], 700, 0.25);
    /* The host fetches two arrays, and brings one back, at what one array costs its owner. */
    expect_line(&m.costs[CPU].phase[SYI_COPY_IN], 800, 0.5);
    expect_line(&m.costs[CPU].phase[SYI_COPY_OUT], 400, 0.25);
}

Test(residence, each_array_counts_for_itself)
{
    machine m;
    set_up(&m);
    m.places.in[1] = on(&m, FAR);
    syi_residence_apply(&m.devices, &m.job, m.costs);
    expect_line(&m.costs[FAR].phase[SYI_COPY_IN], 800, 0.25);
    expect_line(&m.costs[FAR].phase[SYI_COPY_OUT], 700, 0.25);
    expect_line(&m.costs[NEAR].phase[SYI_COPY_IN], 800, 0.5);
    expect_line(&m.costs[CPU].phase[SYI_COPY_IN], 400, 0.25);
    cr_expect_eq(m.costs[CPU].phase[SYI_COPY_OUT].pieces, 0);
}

Test(residence, a_reduction_has_no_outputs_to_copy)
{
    machine m;
    set_up(&m);
    m.workload.pattern = SY_PATTERN_REDUCE;
    m.places.out[0] = on(&m, NEAR);
    syi_residence_apply(&m.devices, &m.job, m.costs);
    expect_line(&m.costs[NEAR].phase[SYI_COPY_OUT], 700, 0.25);
    cr_expect_eq(m.costs[CPU].phase[SYI_COPY_OUT].pieces, 0);
}

/* Equal devices: with the arrays in the host's memory the CPU, which copies nothing, does the most;
 * the GPU that holds them does, by as much, where they live on it. */
Test(residence, a_plan_goes_where_the_arrays_live)
{
    for (int home = CPU; home < DEVICES; home++) {
        machine m;
        syi_experience known[DEVICES];
        syi_plan plan;
        syi_arena memory;
        set_up(&m);
        syi_arena_open(&memory);
        m.job.memory = &memory;
        if (home != CPU)
            m.places.in[0] = m.places.in[1] = m.places.out[0] = on(&m, home);
        syi_residence_apply(&m.devices, &m.job, m.costs);
        for (int i = 0; i < DEVICES; i++)
            known[i] = (syi_experience){&m.costs[i], 0, 0};
        cr_assert_eq(syi_plan_balance(&m.devices, &m.job, known, false, &plan), SY_OK);
        for (int i = 0; i < DEVICES; i++)
            if (i == home)
                cr_expect(plan.shares[i] > 460 && plan.shares[i] < 480, "%d: %lld", i,
                          (long long)plan.shares[i]);
            else
                cr_expect(plan.shares[i] > 260 && plan.shares[i] < 275, "%d: %lld", i,
                          (long long)plan.shares[i]);
        syi_arena_close(&memory);
    }
}
