/*
 * A workload of one's own: the highest of the last `period` values, split over whatever devices the
 * machine has. Build it with
 *
 *     cc own_workload.c $(pkg-config --cflags --libs steelyard)
 *
 * and run it: it prints the last breakout level of a small series, computed on the CPU alone and on
 * two simulated devices, which must be the same.
 */
#include <steelyard/steelyard.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 20000 };

static const char *const inputs[] = {"x"};
static const char *const outputs[] = {"highest"};
static const sy_param_info params[] = {
    {"period", "values in a window", 1, 1000, 55, 1, NULL},
};

/* A window of `period` values needs period - 1 of them to the left of a tile. */
static int64_t halo(const double *values)
{
    return (int64_t)values[0] - 1;
}

/* One tile. in[0][-left .. count) may be read; the first windows of a row are shorter. */
static int highest(const sy_segment *segment)
{
    const double *x = segment->in[0];
    int64_t period = (int64_t)segment->params[0];
    for (int64_t i = 0; i < segment->count; i++) {
        int64_t from = i - (period - 1) < -segment->left ? -segment->left : i - (period - 1);
        double best = x[from];
        for (int64_t j = from + 1; j <= i; j++)
            best = x[j] > best ? x[j] : best;
        segment->out[0][i] = best;
    }
    return 0;
}

static const sy_workload_def definition = {
    .struct_size = sizeof definition,
    .name = "highest",
    .summary = "the highest value of a window",
    .version = 1,
    .pattern = SY_PATTERN_WINDOW,
    .n_inputs = 1,
    .n_outputs = 1,
    .input_names = inputs,
    .output_names = outputs,
    .params = params,
    .n_params = 1,
    .halo = halo,
    .compute = highest,
};

static int compute_on(const char *devices, const double *x, double *y)
{
    sy_config config = {.struct_size = sizeof config, .devices = devices};
    sy_context *context = NULL;
    sy_status status = sy_context_create(&config, &context);
    const void *in[] = {x};
    void *out[] = {y};
    sy_param period = {"period", 20, NULL};
    sy_work work = {.struct_size = sizeof work,
                    .workload = "highest",
                    .columns = COLUMNS,
                    .inputs = in,
                    .outputs = out,
                    .params = &period,
                    .n_params = 1};
    if (status == SY_OK)
        status = sy_workload_register(context, &definition);
    if (status == SY_OK)
        status = distribute_workload(context, &work, NULL, NULL);
    if (status != SY_OK)
        fprintf(stderr, "%s: %s\n", devices, sy_last_error()->text);
    sy_context_destroy(&context);
    return status == SY_OK;
}

int main(void)
{
    static double x[COLUMNS], alone[COLUMNS], split[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        x[i] = 100 + (i * 7919 % 1000) / 100.0;
    if (!compute_on("cpu", x, alone) ||
        !compute_on("sim:fast:speed=3.0,sim:slow:speed=1.0", x, split))
        return EXIT_FAILURE;
    printf("highest of the last 20 at %d: %g\n", COLUMNS - 1, split[COLUMNS - 1]);
    if (memcmp(alone, split, sizeof alone) != 0) {
        fprintf(stderr, "the split changed the result\n");
        return EXIT_FAILURE;
    }
    puts("the same bits on the CPU alone and on two devices");
    return EXIT_SUCCESS;
}
