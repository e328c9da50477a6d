/*
 * A first program: Bollinger bands of a made-up price series, on every device of the machine.
 *
 *     cc first.c $(pkg-config --cflags --libs steelyard)
 *     ./a.out
 */
#include <steelyard/steelyard.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 1000, PERIOD = 20 };

static double price[COLUMNS], upper[COLUMNS], middle[COLUMNS], lower[COLUMNS];

/* Computes the bands of `price`. */
static sy_status compute(sy_context *context)
{
    const void *in[] = {price};
    void *out[] = {upper, middle, lower};
    const sy_param params[] = {{"period", PERIOD, NULL}, {"width", 2, NULL}};
    const sy_work work = {.struct_size = sizeof work,
                          .workload = "bollinger",
                          .columns = COLUMNS,
                          .inputs = in,
                          .outputs = out,
                          .params = params,
                          .n_params = 2};
    return distribute_workload(context, &work, NULL, NULL);
}

int main(void)
{
    sy_context *context = NULL;
    sy_status status;
    for (int i = 0; i < COLUMNS; i++)
        price[i] = 100 + (i * 7919 % 1000) / 100.0;
    status = sy_context_create(NULL, &context);
    if (status == SY_OK)
        status = compute(context);
    if (status != SY_OK)
        fprintf(stderr, "first: %s\n", sy_last_error()->text);
    sy_context_destroy(&context);
    if (status != SY_OK)
        return EXIT_FAILURE;
    /* The columns before the first whole window hold NaN. */
    if (!isnan(middle[PERIOD - 2]) || !(lower[PERIOD - 1] < middle[PERIOD - 1])) {
        fprintf(stderr, "first: these are no bands\n");
        return EXIT_FAILURE;
    }
    for (int i = PERIOD - 1; i < PERIOD + 4; i++)
        printf("column %d: %.3f to %.3f around %.3f\n", i, lower[i], upper[i], middle[i]);
    return EXIT_SUCCESS;
}
