/* `steelyard reprofile`: what a timer calls. Measures the stored profiles again that need it, alone
 * and behind everybody else, and never makes one worse. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "context.h"
#include "message.h"
#include "profile_age.h"
#include "progress.h"
#include "quantity.h"
#include "schedule.h"

typedef struct request {
    const char *older, *drift, *budget, *tag, *workload;
    const char *gpu_load;
    double older_s, drift_part, budget_s, max_load, max_gpu_load;
} request;

/* ---- which profiles ----------------------------------------------------------------------- */

static int parse_request(request *r)
{
    if (r->older)
        CLI_TRY(cli_duration_parse("if-older-than", r->older, &r->older_s));
    if (r->drift)
        CLI_TRY(cli_part_parse("if-drift", r->drift, &r->drift_part));
    CLI_TRY(cli_part_parse("max-gpu-load", r->gpu_load, &r->max_gpu_load));
    CLI_TRY(cli_tag_check(r->tag));
    return cli_budget_parse(r->budget, &r->budget_s);
}

static bool is_old(const request *r, const sy_balance *balance)
{
    double age = cli_profile_age(balance);
    return age < 0 || age >= r->older_s;
}

/* Why a profile is not to be measured; NULL: it is. */
static const char *reason_to_skip(sy_context *context, const request *r, const sy_balance *balance)
{
    sy_workload_info workload;
    if (!*balance->workload)
        return "left alone: it was set by hand";
    if (!cli_look_up_workload(context, balance->workload, &workload))
        return "left alone: its workload is a program's own, and is not known here";
    if (r->older && !r->drift && !is_old(r, balance))
        return "fresh";
    return NULL;
}

/* ---- measuring ---------------------------------------------------------------------------- */

static sy_status measure(sy_context *context, const request *r, const sy_balance *balance)
{
    sy_profile_options options = {.struct_size = sizeof options,
                                  .workload = balance->workload,
                                  .tag = balance->tag,
                                  .budget_ms = 1000 * r->budget_s,
                                  .keep_better = 1,
                                  .accuracy = balance->accuracy,
                                  .dtype = balance->dtype,
                                  .progress = cli_progress_tiles};
    sy_balance now = {.struct_size = sizeof now};
    sy_status status;
    if (r->drift && !(r->older && is_old(r, balance)))
        options.keep_within = r->drift_part;
    cli_progress_begin(balance->tag, "runs");
    status = sy_profile_auto_balance(context, &options, &now);
    cli_progress_erase();
    if (status != SY_OK)
        return status;
    cli_print(stdout, "%s: %s%s\n", balance->tag, *now.kept ? "kept: " : "measured again",
              now.kept);
    sy_balance_clear(&now);
    return SY_OK;
}

typedef struct tag_list {
    char (*tags)[64];
    int count;
    bool failed;
} tag_list;

static int add_tag(void *user, const sy_balance *balance)
{
    tag_list *list = user;
    char(*more)[64] = realloc(list->tags, ((size_t)list->count + 1) * sizeof *more);
    list->failed = !more;
    if (more) {
        list->tags = more;
        memcpy(more[list->count++], balance->tag, sizeof *more);
    }
    return list->failed;
}

/* All tags before the first is measured: while that goes on, others may store and forget some. */
static int list_tags(sy_context *context, tag_list *list)
{
    sy_status status;
    *list = (tag_list){0};
    status = sy_balance_list(context, add_tag, list);
    if (status == SY_OK && !list->failed)
        return CLI_DONE;
    free(list->tags);
    return list->failed ? cli_no_memory() : cli_library_failed(status);
}

/* Profiles that were asked for, and those of them that are to be measured. */
typedef struct tally {
    int found, wanted;
} tally;

/* One profile. */
static sy_status consider(sy_context *context, const request *r, const char *tag, bool only_count,
                          tally *tally)
{
    sy_balance balance = {.struct_size = sizeof balance};
    sy_status status = SY_OK;
    const char *skip;
    if ((r->tag && strcmp(tag, r->tag)) || sy_balance_get(context, tag, &balance) != SY_OK)
        return SY_OK; /* not asked for, or forgotten meanwhile */
    skip = reason_to_skip(context, r, &balance);
    if (!r->workload || strcmp(balance.workload, r->workload) == 0) {
        tally->found++;
        tally->wanted += !skip;
        if (!only_count && skip)
            cli_print(stdout, "%s: %s\n", tag, skip);
        else if (!only_count)
            status = measure(context, r, &balance);
    }
    sy_balance_clear(&balance);
    return status;
}

/* Every profile that is to be measured, one after the other; a failure does not keep the others
 * from their turn. `only_count`: nothing is measured or said. */
static int go_through(sy_context *context, const request *r, bool only_count, tally *tally)
{
    tag_list list;
    int code = CLI_DONE;
    CLI_TRY(list_tags(context, &list));
    tally->found = tally->wanted = 0;
    for (int i = 0; i < list.count; i++) {
        sy_status status = consider(context, r, list.tags[i], only_count, tally);
        if (status != SY_OK && code == CLI_DONE)
            code = status == SY_ERR_NO_DEVICE ? CLI_NO_DEVICE : CLI_FAILED;
        if (status != SY_OK)
            cli_library_failed(status);
    }
    free(list.tags);
    return code;
}

static int check_tag(sy_context *context, const request *r)
{
    sy_balance balance = {.struct_size = sizeof balance};
    sy_status status = r->tag ? sy_balance_get(context, r->tag, &balance) : SY_OK;
    sy_balance_clear(&balance);
    if (status == SY_ERR_NOT_FOUND)
        return cli_fail(
            CLI_FAILED,
            "no profile is stored for the tag '%s' in %s; 'steelyard ratios show' lists what is",
            r->tag, sy_multigpu_path(context));
    return status == SY_OK ? CLI_DONE : cli_library_failed(status);
}

static int check_gpus(sy_context *context, const request *r)
{
    for (int i = 0; i < sy_device_count(context); i++) {
        sy_device_info info;
        if (sy_device_query(context, i, &info) == SY_OK && info.usable &&
            info.utilization_percent >= 0 && info.utilization_percent >= 100 * r->max_gpu_load)
            return cli_fail(CLI_BUSY,
                            "%s is busy (%d %% of its time, limit %.0f %%); try again later, or "
                            "give --max-gpu-load",
                            info.name, info.utilization_percent, 100 * r->max_gpu_load);
    }
    return CLI_DONE;
}

static int check_load(sy_context *context, const request *r)
{
    double load = cli_load_average();
    if (load < r->max_load)
        return check_gpus(context, r);
    return cli_fail(CLI_BUSY,
                    "the machine is busy (load %.2f per processor, limit %.2f); try again later, "
                    "or give --max-load",
                    load, r->max_load);
}

static int reprofile(sy_context *context, const request *r)
{
    char path[4200];
    tally tally;
    int held, code;
    CLI_TRY(check_tag(context, r));
    CLI_TRY(go_through(context, r, true, &tally));
    if (!tally.found)
        cli_print(stdout, "no profile%s%s%s%s is stored in %s; nothing is left to do here\n",
                  r->workload ? " of " : "", r->workload ? r->workload : "",
                  r->tag ? " with the tag " : "", r->tag ? r->tag : "", sy_multigpu_path(context));
    if (!tally.wanted) /* says why, without a lock */
        return go_through(context, r, false, &tally);
    if ((size_t)snprintf(path, sizeof path, "%s.reprofile", sy_multigpu_path(context)) >=
        sizeof path)
        return cli_fail(CLI_FAILED, "the path %.80s... is too long", sy_multigpu_path(context));
    CLI_TRY(cli_lock_alone(path, &held));
    if (held < 0) {
        cli_print(stdout, "another reprofile is at work; nothing is left to do here\n");
        return CLI_DONE;
    }
    code = check_load(context, r);
    if (code == CLI_DONE)
        code = go_through(context, r, false, &tally);
    close(held);
    return code;
}

int cli_cmd_reprofile(int argc, char **argv)
{
    request r = {.budget = "10s", .max_load = 0.5, .gpu_load = "20%"};
    cli_option options[] = {
        {.name = "if-older-than",
         .kind = CLI_TEXT,
         .to = &r.older,
         .placeholder = "TIME",
         .help = "only profiles of at least this age, such as 7d or 12h"},
        {.name = "if-drift",
         .kind = CLI_TEXT,
         .to = &r.drift,
         .placeholder = "PART",
         .help = "younger ones change only when a ratio is off by more, such as 10%"},
        {.name = "tag",
         .kind = CLI_TEXT,
         .to = &r.tag,
         .placeholder = "T",
         .help = "only this profile"},
        {.name = "workload",
         .kind = CLI_TEXT,
         .to = &r.workload,
         .placeholder = "W",
         .help = "only profiles measured with this workload"},
        {.name = "max-load",
         .kind = CLI_NUMBER,
         .to = &r.max_load,
         .placeholder = "L",
         .help = "load average per processor from which nothing is done (default 0.5)"},
        {.name = "max-gpu-load",
         .kind = CLI_TEXT,
         .to = &r.gpu_load,
         .placeholder = "PART",
         .help = "utilisation of a GPU from which nothing is done (default 20%)"},
        {.name = "budget",
         .kind = CLI_TEXT,
         .to = &r.budget,
         .placeholder = "TIME",
         .help = "time for each profile, by a smaller sample (default 10s)"},
    };
    cli_args args = {.command = "reprofile",
                     .usage = "[OPTION]...",
                     .summary = "Measures the stored profiles again: what a timer calls.",
                     .options = options,
                     .n_options = sizeof options / sizeof *options};
    sy_context *context = NULL;
    sy_workload_info workload;
    int code;
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help) {
        cli_print_help(&args);
        return CLI_DONE;
    }
    CLI_TRY(parse_request(&r));
    cli_lower_priority();
    CLI_TRY(cli_open(&args, &context));
    code = r.workload ? cli_find_workload(context, r.workload, &workload) : CLI_DONE;
    if (code == CLI_DONE)
        code = reprofile(context, &r);
    sy_context_destroy(&context);
    return code;
}
