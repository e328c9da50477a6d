/*
 * Every workload, in both accuracies, on the series that are made to break rolling arithmetic, on
 * one to four GPUs, with and without the CPU: the bits of the CPU alone, which the golden suite and
 * that of fast accuracy compare with the exact definition.
 */
#include "gpu_lab.h"

#include <stdio.h>
#include <string.h>

/* Parameters take turns with the mixes of devices; what a workload does not have is left out. */
static const double periods[] = {0, 2, 20, 98, 3, 200, 1000, 7};
enum { PERIODS = sizeof periods / sizeof periods[0] };

static void choose_period(lab_case *c, const sy_workload_info *info, double period)
{
    for (int k = 0; k < info->n_params && period != 0; k++)
        if (!strcmp(info->params[k].name, "period"))
            c->params[c->n_params++] = (sy_param){.name = "period", .value = period};
}

static void check(sy_context *context, int mix, int workload, series_kind kind,
                  sy_accuracy accuracy, const char *where)
{
    /* A row over all devices, or a short row for each, by turns. */
    const int turn = mix / 2 + workload + (int)kind + (accuracy == SY_ACCURACY_FAST);
    const int devices = sy_device_count(context), is_long = turn % 2;
    const int64_t rows = is_long ? 1 : devices;
    const int64_t columns = is_long ? 4096 * (int64_t)(devices > 1 ? devices - 1 : 1) + 700 : 700;
    const sy_options options = {.struct_size = sizeof options, .accuracy = accuracy};
    sy_workload_info info;
    lab_case c = {.rows = rows, .columns = columns, .x = gpu_x};
    char what[GPU_WORDS + 40];
    sy_workload_query(gpu_cpu, workload, &info);
    c.workload = info.name;
    choose_period(&c, &info, periods[(mix + workload + (int)kind) % PERIODS]);
    series_fill(kind, (uint64_t)mix + 1, gpu_x, rows * columns);
    snprintf(what, sizeof what, "series '%s' %s", series_name(kind), where);
    GPU_CHECK(gpu_compare(context, &c, &options, NULL, what) == SY_OK, "%s, %s: %s", info.name,
              what, sy_last_error()->text);
}

/* The price rests for so long that nothing is left of a fast macd's signal. */
static void check_rest(sy_context *context, const char *where)
{
    enum { MOVES = 600, REST = 9000 };
    const sy_options options = {.struct_size = sizeof options, .accuracy = SY_ACCURACY_FAST};
    lab_case c = {.workload = "macd", .rows = 1, .columns = REST, .x = gpu_x};
    series_fill(SERIES_TICK, 1, gpu_x, MOVES);
    for (int i = MOVES; i < REST; i++)
        gpu_x[i] = 100.75;
    GPU_CHECK(gpu_compare(context, &c, &options, NULL, "a rest") == SY_OK, "a rest %s: %s", where,
              sy_last_error()->text);
}

int main(int argc, char **argv)
{
    /* With another code generator's image it is the kernels that may differ, not what the mixes
     * make of them. */
    const int step = argc > 2 ? 3 : 1;
    int workloads, mixes = 0;
    if (!gpu_begin(argc, argv))
        return 2;
    workloads = sy_workload_count(gpu_cpu);
    for (int i = 0; i < GPU_MIXES; i += step, mixes++) {
        char where[GPU_WORDS];
        sy_context *context = gpu_open_mix(i, where);
        for (int w = 0; context && w < workloads; w++)
            for (int kind = 0; kind < SERIES_KINDS; kind++) {
                check(context, i, w, (series_kind)kind, SY_ACCURACY_EXACT, where);
                check(context, i, w, (series_kind)kind, SY_ACCURACY_FAST, where);
            }
        if (context)
            check_rest(context, where);
        gpu_check_all_worked(i, where);
        gpu_close(&context, where);
    }
    printf("%d workloads on %d series on %d mixes of devices\n", workloads, SERIES_KINDS, mixes);
    return gpu_end();
}
