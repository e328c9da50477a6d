/* A caller's work against what its workload declares. */
#include "api/context.h"

#include <string.h>

/* A user's halo function may return anything. */
static sy_status check_halo(const syi_workload *workload, const double *params)
{
    int64_t halo = workload->halo ? workload->halo(params) : 0;
    if (halo < 0)
        return syi_fail(SY_ERR_USER, "workload '%s': its halo function returned %lld",
                        workload->name, (long long)halo);
    return SY_OK;
}

sy_status syi_accuracy_check(sy_accuracy accuracy)
{
    if (accuracy == SY_ACCURACY_EXACT || accuracy == SY_ACCURACY_FAST)
        return SY_OK;
    return syi_fail(SY_ERR_ARGUMENT,
                    "accuracy %d is unknown; use SY_ACCURACY_EXACT or SY_ACCURACY_FAST",
                    (int)accuracy);
}

const syi_workload *syi_workload_for(const syi_workload *workload, sy_accuracy accuracy)
{
    return accuracy == SY_ACCURACY_FAST && workload->fast ? workload->fast : workload;
}

sy_status syi_options_check(const sy_options *options)
{
    syi_force force;
    SYI_TRY(syi_accuracy_check(options->accuracy));
    if (options->tag)
        SYI_TRY(syi_multigpu_check_tag(options->tag));
    SYI_TRY(syi_force_parse(options->device, &force));
    if (force != SYI_FORCE_AUTO && options->n_ratios)
        return syi_fail(SY_ERR_ARGUMENT,
                        "device '%s' and ratios say both who computes; give one of them",
                        options->device);
    return SY_OK;
}

static sy_status check_seeds(const syi_job *job)
{
    const syi_workload *workload = job->workload;
    if (job->n_seeds < 0)
        return syi_fail(SY_ERR_ARGUMENT, "%lld seeds: must not be negative",
                        (long long)job->n_seeds);
    if (job->n_seeds && workload->pattern != SY_PATTERN_REDUCE)
        return syi_fail(SY_ERR_ARGUMENT,
                        "%s is no reduction, its result has no seeds; leave "
                        "n_seeds 0",
                        workload->name);
    if (job->n_seeds > INT64_MAX / 16 / job->rows)
        return syi_fail(SY_ERR_ARGUMENT, "%lld seeds of %lld rows: too many elements",
                        (long long)job->n_seeds, (long long)job->rows);
    return SY_OK;
}

sy_status syi_dtype_check(sy_dtype dtype)
{
    if (dtype == SY_F64 || dtype == SY_F32)
        return SY_OK;
    return syi_fail(SY_ERR_ARGUMENT, "dtype %d is unknown; use SY_F64 or SY_F32", (int)dtype);
}

sy_status syi_work_check(sy_context *context, const sy_work *work, const sy_options *options,
                         double *params, syi_job *out)
{
    static const void *const nothing[SYI_MAX_ARRAYS]; /* where there are no columns */
    sy_work copy;
    const syi_workload *workload;
    SYI_TRY(syi_struct_check(work->struct_size, SYI_ANY_STRUCT, "sy_work"));
    SYI_ADOPT(copy, work);
    workload = syi_workload_find(context, copy.workload);
    if (!workload)
        return SY_ERR_NOT_FOUND;
    if (copy.rows == 0)
        copy.rows = 1;
    if (copy.rows < 0 || copy.columns < 0)
        return syi_fail(SY_ERR_ARGUMENT, "shape %lld x %lld: rows and columns must not be negative",
                        (long long)copy.rows, (long long)copy.columns);
    if (copy.rows > INT64_MAX / 16 / (copy.columns ? copy.columns : 1))
        return syi_fail(SY_ERR_ARGUMENT, "shape %lld x %lld: too many elements",
                        (long long)copy.rows, (long long)copy.columns);
    SYI_TRY(syi_dtype_check(copy.dtype));
    SYI_TRY(syi_params_resolve(workload, copy.params, copy.n_params, params));
    workload = syi_workload_for(workload, options->accuracy);
    SYI_TRY(check_halo(workload, params));
    if (!copy.columns && workload->pattern != SY_PATTERN_REDUCE)
        copy.rows = 1; /* however many there are, they hold nothing */
    *out = (syi_job){.workload = workload,
                     .params = params,
                     .rows = copy.rows,
                     .columns = copy.columns,
                     .dtype = copy.dtype,
                     .in = copy.inputs ? copy.inputs : nothing,
                     .out = copy.outputs ? copy.outputs : (void *const *)nothing,
                     .seed = options->seed,
                     .moves = options->accuracy == SY_ACCURACY_FAST && workload->tag != NULL,
                     .n_seeds = options->n_seeds,
                     .seeded = options->seeded};
    return check_seeds(out);
}
