/* The workloads of a context: the built-in ones and the user's own. */
#include "api/context.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first one that has this name, or, without a name, this index; the user's follow the built-in
 * ones. */
static const syi_workload *look_up(sy_context *context, const char *name, int index)
{
    const syi_workload *found;
    int i = 0;
    while ((found = syi_builtin(i)) && (name ? strcmp(found->name, name) != 0 : i != index))
        i++;
    if (found)
        return found;
    pthread_mutex_lock(&context->lock);
    for (const syi_registered *r = context->registered; r && !found; r = r->next, i++)
        if (name ? !strcmp(r->workload.name, name) : i == index)
            found = &r->workload;
    pthread_mutex_unlock(&context->lock);
    return found;
}

static const syi_workload *workload_at(sy_context *context, int index)
{
    return look_up(context, NULL, index);
}

const syi_workload *syi_workload_find(sy_context *context, const char *name)
{
    const syi_workload *workload = name ? look_up(context, name, 0) : NULL;
    char names[400];
    size_t used = 0;
    if (workload)
        return workload;
    names[0] = '\0';
    for (int i = 0; (workload = workload_at(context, i)) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 workload->name);
    syi_fail(SY_ERR_NOT_FOUND, "unknown workload '%s'; there is: %s", name ? name : "(none)",
             names);
    return NULL;
}

sy_status sy_workload_least_columns(sy_context *context, const char *workload,
                                    const sy_param *params, int n_params, int64_t *columns)
{
    const syi_workload *found;
    double values[SYI_MAX_PARAMS];
    if (!context || !columns)
        return syi_fail(SY_ERR_ARGUMENT, "sy_workload_least_columns: context or columns is NULL");
    found = syi_workload_find(context, workload);
    if (!found)
        return SY_ERR_NOT_FOUND;
    SYI_TRY(syi_params_resolve(found, params, n_params, values));
    *columns = 1 + (found->warmup ? found->warmup(values) : 0);
    return SY_OK;
}

int sy_workload_count(sy_context *context)
{
    int count = 0;
    while (context && workload_at(context, count))
        count++;
    return count;
}

sy_status sy_workload_query(sy_context *context, int index, sy_workload_info *out)
{
    const syi_workload *workload;
    if (!context || !out)
        return syi_fail(SY_ERR_ARGUMENT, "sy_workload_query: context or out is NULL");
    workload = index >= 0 ? workload_at(context, index) : NULL;
    if (!workload)
        return syi_fail(SY_ERR_ARGUMENT, "workload index %d: there are %d workloads", index,
                        sy_workload_count(context));
    *out = (sy_workload_info){.name = workload->name,
                              .summary = workload->summary,
                              .pattern = workload->pattern,
                              .n_inputs = workload->n_inputs,
                              .n_outputs = workload->n_outputs,
                              .n_params = workload->n_params,
                              .input_names = workload->input_names,
                              .output_names = workload->output_names,
                              .params = workload->params,
                              .built_in = workload->user == NULL,
                              .has_fast = workload->fast != NULL};
    return SY_OK;
}

static int has_names(const char *const *names, int n)
{
    if (!names || n < 1 || n > SYI_MAX_ARRAYS)
        return 0;
    for (int i = 0; i < n; i++)
        if (!names[i] || !*names[i])
            return 0;
    return 1;
}

static sy_status check_functions(const sy_workload_def *def)
{
    if (def->pattern == SY_PATTERN_RECURRENCE)
        return syi_fail(SY_ERR_UNSUPPORTED,
                        "workload '%s': a user's workload is a map, a window or a reduction",
                        def->name);
    if (def->pattern == SY_PATTERN_REDUCE) {
        if (!def->reduce || !def->combine || !def->finish || def->partial_size == 0)
            return syi_fail(SY_ERR_ARGUMENT,
                            "workload '%s': a reduction needs reduce, combine, finish and a "
                            "partial_size",
                            def->name);
        return SY_OK;
    }
    if (!def->compute || (def->pattern == SY_PATTERN_WINDOW && !def->halo))
        return syi_fail(SY_ERR_ARGUMENT,
                        "workload '%s': a map needs compute, a window needs compute and halo",
                        def->name);
    return SY_OK;
}

static sy_status check_gpu(const sy_workload_def *def)
{
    const int most_threads = 1024;
    const size_t most_shared = 48 << 10;
    if (def->gpu_image && def->gpu_launch)
        return syi_fail(SY_ERR_ARGUMENT,
                        "workload '%s': a GPU form is an image or a launcher, not both", def->name);
    if (!def->gpu_image != (!def->gpu_kernel || !*def->gpu_kernel))
        return syi_fail(SY_ERR_ARGUMENT, "workload '%s': gpu_image and gpu_kernel belong together",
                        def->name);
    if (def->gpu_threads < 0 || def->gpu_threads > most_threads)
        return syi_fail(SY_ERR_ARGUMENT, "workload '%s': gpu_threads %d; 1 to %d are possible",
                        def->name, def->gpu_threads, most_threads);
    if (def->gpu_shared_bytes > most_shared)
        return syi_fail(SY_ERR_ARGUMENT,
                        "workload '%s': gpu_shared_bytes %zu; up to %zu are possible", def->name,
                        def->gpu_shared_bytes, most_shared);
    return SY_OK;
}

/* Its fallback has to be a value that could be given. */
static sy_status check_param(const sy_workload_def *def, int i)
{
    const sy_param_info *param = &def->params[i];
    if (!param->name || !*param->name || !(param->min <= param->max))
        return syi_fail(SY_ERR_ARGUMENT, "workload '%s': parameter %d needs a name and min <= max",
                        def->name, i);
    for (int other = 0; other < i; other++)
        if (!strcmp(param->name, def->params[other].name))
            return syi_fail(SY_ERR_ARGUMENT, "workload '%s': two parameters are called '%s'",
                            def->name, param->name);
    if (!(param->fallback >= param->min && param->fallback <= param->max) ||
        (param->is_integer && param->fallback != floor(param->fallback)))
        return syi_fail(SY_ERR_ARGUMENT,
                        "workload '%s': the fallback %.17g of '%s' must be a %snumber from %.15g "
                        "to %.15g",
                        def->name, param->fallback, param->name, param->is_integer ? "whole " : "",
                        param->min, param->max);
    return SY_OK;
}

static bool ends_in(const char *name, const char *end)
{
    return strlen(name) >= strlen(end) && !strcmp(name + strlen(name) - strlen(end), end);
}

static sy_status check_name(const char *name)
{
    if (!name || !*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
        strlen(name) > SYI_LONGEST_NAME)
        return syi_fail(SY_ERR_ARGUMENT, "workload name '%s': use a-z, 0-9 and _, up to %d of them",
                        name ? name : "(none)", (int)SYI_LONGEST_NAME);
    if (ends_in(name, "_fast") || ends_in(name, "_f32")) /* profiles are stored by the tag */
        return syi_fail(SY_ERR_ARGUMENT,
                        "workload name '%s' ends like the tag of another accuracy or type; choose "
                        "another end than _fast and _f32",
                        name);
    return SY_OK;
}

static sy_status check_def(const sy_workload_def *def)
{
    const char *name = def->name;
    SYI_TRY(check_name(name));
    if ((unsigned)def->pattern > SY_PATTERN_REDUCE)
        return syi_fail(SY_ERR_ARGUMENT, "workload '%s': unknown pattern %d", name,
                        (int)def->pattern);
    if (!has_names(def->input_names, def->n_inputs) ||
        !has_names(def->output_names, def->n_outputs))
        return syi_fail(SY_ERR_ARGUMENT,
                        "workload '%s': needs 1 to %d named inputs and as many named outputs", name,
                        SYI_MAX_ARRAYS);
    if (def->n_params > 0 && !def->params)
        return syi_fail(SY_ERR_ARGUMENT, "workload '%s': %d parameters in a NULL list", name,
                        def->n_params);
    if (def->n_params < 0 || def->n_params > SYI_MAX_PARAMS)
        return syi_fail(SY_ERR_ARGUMENT, "workload '%s': %d parameters; 0 to %d are possible", name,
                        def->n_params, SYI_MAX_PARAMS);
    for (int i = 0; i < def->n_params; i++)
        SYI_TRY(check_param(def, i));
    SYI_TRY(check_gpu(def));
    return check_functions(def);
}

static void fill_row(syi_registered *entry)
{
    const sy_workload_def *def = &entry->def;
    entry->workload = (syi_workload){.name = def->name,
                                     .summary = def->summary ? def->summary : "",
                                     .version = def->version,
                                     .pattern = def->pattern,
                                     .n_inputs = def->n_inputs,
                                     .n_outputs = def->n_outputs,
                                     .n_params = def->n_params,
                                     .input_names = def->input_names,
                                     .output_names = def->output_names,
                                     .params = def->params,
                                     .halo = def->pattern == SY_PATTERN_WINDOW ? def->halo : NULL,
                                     .partial_size = def->partial_size,
                                     .user = def};
    if (def->gpu_image || def->gpu_launch) {
        entry->gpu = (syi_gpu_form){.entry = def->gpu_kernel,
                                    .unit_columns = SYI_TILE,
                                    .units_per_block = 1,
                                    .threads = def->gpu_threads ? def->gpu_threads : 256};
        entry->workload.gpu = &entry->gpu;
    }
}

static sy_status exists_already(const char *name)
{
    return syi_fail(SY_ERR_ARGUMENT, "workload '%s' exists already; choose another name", name);
}

sy_status sy_workload_register(sy_context *context, const sy_workload_def *def)
{
    syi_registered *entry, **last;
    sy_workload_def copy;
    bool taken;
    if (!context || !def)
        return syi_fail(SY_ERR_ARGUMENT, "sy_workload_register: context or def is NULL");
    SYI_TRY(syi_struct_check(def->struct_size, SYI_ANY_STRUCT, "sy_workload_def"));
    SYI_ADOPT(copy, def);
    SYI_TRY(check_def(&copy));
    if (look_up(context, copy.name, 0))
        return exists_already(copy.name);
    entry = syi_alloc(1, sizeof *entry);
    if (!entry)
        return syi_no_memory(sizeof *entry);
    entry->def = copy;
    fill_row(entry);
    pthread_mutex_lock(&context->lock);
    for (last = &context->registered; *last && strcmp((*last)->workload.name, copy.name) != 0;)
        last = &(*last)->next;
    taken = *last != NULL; /* by another thread, just now */
    if (!taken)
        *last = entry;
    pthread_mutex_unlock(&context->lock);
    if (!taken)
        return SY_OK;
    syi_free(entry);
    return exists_already(copy.name);
}

void syi_registered_clear(sy_context *context)
{
    while (context->registered) {
        syi_registered *next = context->registered->next;
        syi_free(context->registered);
        context->registered = next;
    }
}
