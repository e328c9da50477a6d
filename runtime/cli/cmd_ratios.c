/* `steelyard ratios show | set | clear`: the stored ratios. */
#include <string.h>

#include "args.h"
#include "commands.h"
#include "context.h"
#include "message.h"
#include "print.h"

static int add_balance(void *user, const sy_balance *balance)
{
    cli_table *table = user;
    for (int i = 0; i < balance->n_ratios; i++) {
        cli_table_cell(table, "%s", balance->tag);
        cli_table_cell(table, "%s", balance->ratios[i].device);
        cli_table_cell(table, "%.4f", balance->ratios[i].ratio);
        cli_table_cell(table, "%s", balance->updated_at);
    }
    return 0;
}

static sy_status add_tag(sy_context *context, cli_table *table, const char *tag)
{
    sy_balance balance = {.struct_size = sizeof balance};
    sy_status status = sy_balance_get(context, tag, &balance);
    if (status == SY_OK)
        add_balance(table, &balance);
    sy_balance_clear(&balance);
    return status;
}

/* Nothing is stored for the tag. Of a workload's own tag, what 'profile' stores under it; what is
 * the same in both accuracies has no tag for fast. */
static int has_none(sy_context *context, const char *tag)
{
    const char *path = sy_multigpu_path(context);
    char name[64];
    sy_workload_info workload;
    bool is_f32, is_fast;
    snprintf(name, sizeof name, "%s", tag);
    is_f32 = cli_cut_off(name, "_f32");
    is_fast = cli_cut_off(name, "_fast");
    if (!cli_look_up_workload(context, name, &workload))
        return cli_fail(CLI_FAILED,
                        "no ratios are stored for the tag '%s' in %s; 'steelyard profile "
                        "--workload W --tag %s' measures them",
                        tag, path, tag);
    if (is_fast && !workload.has_fast)
        return cli_fail(CLI_FAILED,
                        "no ratios are stored for the tag '%s' in %s; %s is the same in both "
                        "accuracies: its tag is '%s%s'",
                        tag, path, name, name, is_f32 ? "_f32" : "");
    return cli_fail(CLI_FAILED,
                    "no ratios are stored for the tag '%s' in %s; 'steelyard profile --workload "
                    "%s%s%s' measures them",
                    tag, path, name, is_fast ? " --accuracy fast" : "",
                    is_f32 ? " --dtype f32" : "");
}

static int show(sy_context *context, const char *tag)
{
    cli_table table;
    sy_status status;
    size_t heading;
    int found;
    cli_table_begin(&table, 4, "tag", "device", ">ratio", "updated");
    heading = table.count;
    status = tag ? add_tag(context, &table, tag) : sy_balance_list(context, add_balance, &table);
    found = table.count > heading;
    CLI_TRY(cli_table_end(&table, found ? stdout : NULL));
    if (status != SY_OK && status != SY_ERR_NOT_FOUND)
        return cli_library_failed(status);
    if (found)
        return CLI_DONE;
    if (tag)
        return has_none(context, tag);
    cli_print(stdout, "no ratios are stored in %s; 'steelyard profile' measures them\n",
              sy_multigpu_path(context));
    return CLI_DONE;
}

/* Without a tag: the one profiled last. */
static int default_tag(sy_context *context, char tag[64])
{
    sy_balance balance = {.struct_size = sizeof balance};
    sy_status status = sy_balance_get(context, NULL, &balance);
    strcpy(tag, status == SY_OK && *balance.tag ? balance.tag : "default");
    sy_balance_clear(&balance);
    return status == SY_OK || status == SY_ERR_NOT_FOUND ? CLI_DONE : cli_library_failed(status);
}

static int set(sy_context *context, const char *text, const char *tag)
{
    char last[64];
    cli_ratios ratios;
    sy_status status = SY_OK;
    int code;
    if (!tag) {
        CLI_TRY(default_tag(context, last));
        tag = last;
    }
    code = cli_ratios_parse(context, text, &ratios);
    if (code == CLI_DONE)
        status = sy_balance_set(context, tag, ratios.ratios, ratios.count);
    cli_ratios_free(&ratios);
    if (code || status != SY_OK)
        return code ? code : cli_library_failed(status);
    cli_print(stdout, "stored for the tag '%s' in %s\n", tag, sy_multigpu_path(context));
    return CLI_DONE;
}

static int clear(sy_context *context, const char *tag)
{
    sy_status status = sy_balance_forget(context, tag);
    if (status == SY_ERR_NOT_FOUND && tag)
        return cli_fail(
            CLI_FAILED,
            "no ratios are stored for the tag '%s' in %s; 'steelyard ratios show' lists what is",
            tag, sy_multigpu_path(context));
    if (status != SY_OK && status != SY_ERR_NOT_FOUND)
        return cli_library_failed(status);
    cli_print(stdout, "cleared in %s\n", sy_multigpu_path(context));
    return CLI_DONE;
}

static int act(cli_args *args, const char *tag)
{
    const char *verb = args->positionals[0], *list = args->positionals[1];
    sy_context *context = NULL;
    int code;
    bool sets = verb && strcmp(verb, "set") == 0;
    if (!verb || !(sets || strcmp(verb, "show") == 0 || strcmp(verb, "clear") == 0))
        return cli_fail(CLI_USAGE,
                        "ratios needs one of show, set and clear%s%s%s; see 'steelyard "
                        "ratios --help'",
                        verb ? ", not '" : "", verb ? verb : "", verb ? "'" : "");
    if (sets != (list != NULL))
        return cli_fail(CLI_USAGE,
                        sets ? "ratios set needs NAME=R[,NAME=R..], as in 'a=0.75,b=0.25'"
                             : "ratios %s takes no list; name a tag with --tag",
                        verb);
    CLI_TRY(cli_tag_check(tag));
    /* Only what is stored must be devices that are there. */
    CLI_TRY(sets ? cli_open(args, &context) : cli_open_file(args, &context));
    code = sets                        ? set(context, list, tag)
           : strcmp(verb, "show") == 0 ? show(context, tag)
                                       : clear(context, tag);
    sy_context_destroy(&context);
    return code;
}

int cli_cmd_ratios(int argc, char **argv)
{
    const char *tag = NULL;
    cli_option options[] = {
        {.name = "tag",
         .kind = CLI_TEXT,
         .to = &tag,
         .placeholder = "T",
         .help = "the workload's name, or another; without it show and clear mean all tags, and "
                 "set the one written last"},
    };
    cli_args args = {.command = "ratios",
                     .usage = "show | set NAME=R[,NAME=R..] | clear [--tag T]",
                     .summary = "The stored ratios: a device's share of the work.",
                     .options = options,
                     .n_options = 1,
                     .max_positionals = 2};
    CLI_TRY(cli_parse(&args, argc, argv));
    if (args.help) {
        cli_print_help(&args);
        return CLI_DONE;
    }
    return act(&args, tag);
}
