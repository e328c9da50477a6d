/* From the words of the command line to the library's: the context, ratios, the workload and its
 * parameters. Everything reports its failure and returns the exit code. */
#ifndef CLI_CONTEXT_H
#define CLI_CONTEXT_H

#include <steelyard/steelyard.h>

#include "args.h"

/* Opens the devices of --devices. */
int cli_open(cli_args *args, sy_context **out);
/* The same for a command that works on a stored file only: by default the CPU. */
int cli_open_file(cli_args *args, sy_context **out);
/* Opens the CPU alone, silently: for lists and help texts. */
int cli_open_catalog(sy_context **out);

/* The devices as they are now. cli_devices_free also when it failed. */
typedef struct cli_devices {
    sy_device_info *list;
    int count;
} cli_devices;
int cli_devices_query(sy_context *context, cli_devices *out);
void cli_devices_free(cli_devices *devices);

/* The word of --accuracy; NULL: exact. */
int cli_accuracy_parse(const char *word, sy_accuracy *out);
const char *cli_accuracy_word(sy_accuracy accuracy);
#define CLI_ACCURACY_OPTION(variable)                                                              \
    {                                                                                              \
        .name = "accuracy", .kind = CLI_TEXT, .to = &(variable), .placeholder = "WORD",            \
        .help = "exact (default), or fast: with a bounded error (docs/determinism.md)"             \
    }

/* The word of --dtype; NULL: f64. */
int cli_dtype_parse(const char *word, sy_dtype *out);
#define CLI_DTYPE_OPTION(variable)                                                                 \
    {                                                                                              \
        .name = "dtype", .kind = CLI_TEXT, .to = &(variable), .placeholder = "WORD",               \
        .help = "f64 (default) or f32: of the arrays"                                              \
    }

/* --tag and the KEY of thresholds, or NULL: of a length that can be stored, and without what would
 * steer a terminal. */
int cli_tag_check(const char *tag);
int cli_key_check(const char *key);

/* "a=0.75,b=0.25" with names of the context's devices. cli_ratios_free also when it failed. */
typedef struct cli_ratios {
    char *text; /* holds the names */
    sy_ratio *ratios;
    int count;
} cli_ratios;
int cli_ratios_parse(sy_context *context, const char *text, cli_ratios *out);
void cli_ratios_free(cli_ratios *ratios);

/* Whether there is a workload of that name; *out is it. */
bool cli_look_up_workload(sy_context *context, const char *name, sy_workload_info *out);
/* Whether a tag ended so; without that then. */
bool cli_cut_off(char *tag, const char *end);
/* The same, with the nearest one in the message when there is none. */
int cli_find_workload(sy_context *context, const char *name, sy_workload_info *out);
/* The command line's workload. Where there is none, an option that no workload has is
 * named instead: misspelt, it takes the next word as its value. */
int cli_named_workload(const cli_args *args, sy_context *context, sy_workload_info *out);

enum { CLI_MAX_PARAMS = 16 };
/* The options that are left over as the workload's parameters. */
int cli_params(const cli_args *args, const sy_workload_info *info, sy_param params[CLI_MAX_PARAMS],
               int *n_params);
/* The value that a run with these parameters uses. */
double cli_param_value(const sy_param_info *info, const sy_param *params, int n_params);
/* The help of a command with a workload, and of the workload's parameters where it is named. */
int cli_workload_help(const cli_args *args);

#endif
