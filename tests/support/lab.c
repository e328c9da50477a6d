/* What the suites work with. */
#include "support/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64 };

static const uint64_t poison = UINT64_C(0xfff7a5a5deadbeef); /* a signalling NaN of its own */

int lab_stop_at_the_end(void *user, uint64_t done, uint64_t tiles)
{
    int *times = user;
    return done == tiles && ++*times > 1;
}

void lab_remember(void *user, sy_log_level level, const char *line)
{
    lab_log *log = user;
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, "%s\n", line);
    if (level != SY_LOG_WARNING) {
        log->infos++;
        return;
    }
    log->warnings++;
    snprintf(log->last, sizeof log->last, "%s", line);
}

void lab_remove(const char *path)
{
    static const char *const endings[] = {"", ".lock", ".corrupt"};
    char name[256];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        remove(name);
    }
}

uint64_t lab_setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : fallback;
}

sy_context *lab_open(const char *devices, const char *multigpu_path, lab_log *log)
{
    sy_config config = {.struct_size = sizeof config,
                        .devices = devices,
                        .multigpu_path = multigpu_path ? multigpu_path : "no-such/multigpu.json",
                        .thresholds_path = "no-such/thresholds.json",
                        .log = log ? lab_remember : NULL,
                        .log_user = log};
    sy_context *context = NULL;
    if (sy_context_create(&config, &context) == SY_OK)
        return context;
    fprintf(stderr, "context over %s: %s\n", devices, sy_last_error()->text);
    return NULL;
}

static void fill_poison(double *array, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(&array[i], &poison, sizeof poison);
}

double *lab_alloc(int64_t count)
{
    double *block = malloc((size_t)(count + 2 * GUARD) * sizeof *block);
    if (!block)
        return NULL;
    fill_poison(block, count + 2 * GUARD);
    return block + GUARD;
}

int lab_untouched(const double *array, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (memcmp(&array[i], &poison, sizeof poison) != 0)
            return 0;
    return 1;
}

int lab_guards_intact(const double *array, int64_t count)
{
    return lab_untouched(array - GUARD, GUARD) && lab_untouched(array + count, GUARD);
}

void lab_free(double *array)
{
    if (array)
        free(array - GUARD);
}

static int is_one_of(const char *workload, const char *names)
{
    size_t length = strlen(workload);
    for (const char *at = names; (at = strstr(at, workload)) != NULL; at += length)
        if (at[-1] == ' ' && at[length] == ' ')
            return 1;
    return 0;
}

static double *turned(const lab_case *c, int64_t by)
{
    double *turned = lab_alloc(c->rows * c->columns);
    for (int64_t row = 0; turned && row < c->rows; row++)
        for (int64_t i = 0; i < c->columns; i++)
            turned[row * c->columns + i] = c->x[row * c->columns + (i + by) % c->columns];
    return turned;
}

int lab_prepare(lab_case *c)
{
    int complete = 1;
    int is_reduction = is_one_of(c->workload, " sum mean variance min max dot ");
    c->n_inputs = is_one_of(c->workload, " atr ") ? 3 : is_one_of(c->workload, " dot ") ? 2 : 1;
    c->n_outputs = is_one_of(c->workload, " bollinger macd ") ? 3
                   : is_one_of(c->workload, " min max ")      ? 2
                                                              : 1;
    c->out_count = is_reduction ? c->rows : c->rows * c->columns;
    for (int k = 1; k < c->n_inputs; k++)
        complete &= !!(c->more[k - 1] = turned(c, k * c->columns / 3));
    for (int k = 0; k < c->n_outputs; k++)
        complete &= !!(c->out[k] = lab_alloc(c->out_count));
    return complete;
}

void lab_release(lab_case *c)
{
    for (int k = 1; k < c->n_inputs; k++) {
        lab_free(c->more[k - 1]);
        c->more[k - 1] = NULL;
    }
    for (int k = 0; k < c->n_outputs; k++) {
        lab_free(c->out[k]);
        c->out[k] = NULL;
    }
}

void lab_round_to_floats(double *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (double)(float)x[i];
}

/* The work with arrays of floats between the case's arrays of doubles. */
static sy_status distribute_floats(sy_context *context, sy_work *work, lab_case *c,
                                   const sy_options *options, sy_report *report)
{
    const int64_t inputs = c->rows * c->columns, room = c->out_count / 2 + 1;
    const double *x[LAB_INPUTS] = {c->x, c->more[0], c->more[1]};
    float *in[LAB_INPUTS] = {NULL};
    double *out[LAB_OUTPUTS] = {NULL}; /* guarded room for floats */
    const void *in_arrays[LAB_INPUTS];
    void *out_arrays[LAB_OUTPUTS];
    sy_status status;
    for (int k = 0; k < c->n_inputs; k++) {
        in_arrays[k] = in[k] = malloc((size_t)inputs * sizeof(float) + 1);
        for (int64_t i = 0; i < inputs; i++)
            in[k][i] = (float)x[k][i];
    }
    for (int k = 0; k < c->n_outputs; k++)
        out_arrays[k] = out[k] = lab_alloc(room);
    work->dtype = SY_F32;
    work->inputs = in_arrays;
    work->outputs = out_arrays;
    status = distribute_workload(context, work, options, report);
    for (int k = 0; k < c->n_outputs; k++) {
        const float *values = out_arrays[k];
        for (int64_t i = 0; status == SY_OK && i < c->out_count; i++)
            c->out[k][i] = values[i];
        if (!lab_guards_intact(out[k], room))
            status = SY_ERR_INTERNAL;
        lab_free(out[k]);
    }
    for (int k = 0; k < c->n_inputs; k++)
        free(in[k]);
    return status;
}

sy_status lab_run(sy_context *context, lab_case *c, const sy_options *options, sy_report *report)
{
    const void *inputs[LAB_INPUTS] = {c->x, c->more[0], c->more[1]};
    void *outputs[LAB_OUTPUTS];
    sy_work work = {.struct_size = sizeof work,
                    .workload = c->workload,
                    .rows = c->rows,
                    .columns = c->columns,
                    .inputs = inputs,
                    .outputs = outputs,
                    .params = c->params,
                    .n_params = c->n_params};
    sy_status status;
    for (int k = 0; k < c->n_outputs; k++) {
        fill_poison(c->out[k], c->out_count);
        outputs[k] = c->out[k];
    }
    status = c->dtype == SY_F32 ? distribute_floats(context, &work, c, options, report)
                                : distribute_workload(context, &work, options, report);
    for (int k = 0; k < c->n_outputs; k++) {
        if (!lab_guards_intact(c->out[k], c->out_count)) {
            fprintf(stderr, "output %d was written outside its array\n", k);
            return SY_ERR_INTERNAL;
        }
    }
    if (status != SY_OK)
        fprintf(stderr, "%s: %s\n", c->workload, sy_last_error()->text);
    return status;
}

int lab_told(sy_status status)
{
    const sy_error *error = sy_last_error();
    if (error->status == status && *error->text && !strpbrk(error->text, "\n\r\t"))
        return 1;
    fprintf(stderr, "expected status %d with one line; got %d: '%s'\n", (int)status,
            (int)error->status, error->text);
    return 0;
}

int64_t lab_difference(const double *a, const double *b, int64_t count)
{
    if (count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0)
        return -1;
    for (int64_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            return i;
    return -1;
}

int64_t lab_case_difference(const lab_case *a, const lab_case *b, int *output)
{
    for (int k = 0; k < a->n_outputs; k++) {
        int64_t at = lab_difference(a->out[k], b->out[k], a->out_count);
        if (at >= 0) {
            *output = k;
            return at;
        }
    }
    return -1;
}

int lab_as_on_cpu(const lab_case *c)
{
    lab_case alone = *c;
    sy_context *cpu = lab_open("cpu:threads=1", NULL, NULL);
    int output = 0;
    int64_t at = 0;
    if (cpu && lab_prepare(&alone)) {
        if (lab_run(cpu, &alone, NULL, NULL) == SY_OK)
            at = lab_case_difference(&alone, c, &output);
        lab_release(&alone);
    }
    sy_context_destroy(&cpu);
    if (at >= 0)
        fprintf(stderr, "%s: other bits in output %d at %lld\n", c->workload, output,
                (long long)at);
    return at < 0;
}

const char *lab_describe(const lab_case *c, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s(", c->workload);
    for (int i = 0; i < c->n_params && used < size; i++) {
        const sy_param *p = &c->params[i];
        if (p->text)
            used += (size_t)snprintf(text + used, size - used, "%s=%s, ", p->name, p->text);
        else
            used += (size_t)snprintf(text + used, size - used, "%s=%.17g, ", p->name, p->value);
    }
    if (used < size)
        snprintf(text + used, size - used, "rows=%lld, columns=%lld%s)", (long long)c->rows,
                 (long long)c->columns, c->dtype == SY_F32 ? ", f32" : "");
    return text;
}
