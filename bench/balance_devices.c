/* The simulated devices of bench_balance, and what they compute; see balance.h. */
#include "balance.h"
#include "series.h"

#include <stdio.h>

const double balance_whole_speed = 0.4;
int64_t balance_elements;
const char *balance_workload;
static double *input, *output;

void balance_begin(int64_t elements, const char *workload)
{
    balance_elements = elements;
    balance_workload = workload;
    input = bench_array(elements, 0);
    output = bench_array(elements, 1);
    bench_series_fill("walk", 0, input, elements);
}

void balance_end(void)
{
    bench_array_free(input);
    bench_array_free(output);
}

void balance_speeds(const machine *m, const double *slower, double *speeds)
{
    double sum = 0;
    for (int i = 0; i < m->count; i++)
        sum += m->weight[i];
    for (int i = 0; i < m->count; i++)
        speeds[i] = balance_whole_speed * m->weight[i] / sum / (slower ? slower[i] : 1);
}

sy_context *balance_devices(const char *list)
{
    sy_context *context = bench_open(list, NULL);
    bench_register_light(context);
    return context;
}

sy_context *balance_open(const double *speeds, int first, int count)
{
    char list[256];
    size_t used = 0;
    for (int i = first; i < first + count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%ssim:%c:speed=%.9g",
                                 i > first ? "," : "", 'a' + i, speeds[i]);
    return balance_devices(list);
}

void balance_compute(sy_context *context, int64_t first, int64_t count, const sy_options *how)
{
    const void *in = input + first;
    void *out = output + first;
    sy_work work = {.struct_size = sizeof work,
                    .workload = balance_workload,
                    .columns = count,
                    .inputs = &in,
                    .outputs = &out};
    bench_check(distribute_workload(context, &work, how, NULL));
}
