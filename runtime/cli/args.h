/* The command line: one table of options a command, from which both the parsing and the help text
 * are made. `--name value` and `--name=value`; dashes and underscores are the same. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum cli_kind {
    CLI_FLAG,    /* bool */
    CLI_TEXT,    /* const char * */
    CLI_INTEGER, /* int64_t, within min .. max */
    CLI_NUMBER   /* double, finite and >= 0 */
} cli_kind;

typedef struct cli_option {
    const char *name; /* without the dashes */
    cli_kind kind;
    void *to;
    const char *placeholder, *help;
    int64_t min, max;
    bool given;
} cli_option;

/* An option that the table does not know, kept for the workload's parameters. */
typedef struct cli_extra {
    char name[64];
    const char *value; /* NULL: none was given */
} cli_extra;

enum { CLI_MAX_POSITIONALS = 3, CLI_MAX_EXTRAS = 32 };

typedef struct cli_args {
    const char *command, *usage, *summary;
    cli_option *options;
    int n_options;
    int max_positionals;
    bool keep_extras;
    /* Filled in: */
    const char *positionals[CLI_MAX_POSITIONALS];
    int n_positionals;
    cli_extra extras[CLI_MAX_EXTRAS];
    int n_extras;
    /* The options of every command. */
    const char *devices;
    const char *cuda_driver, *nvml;
    bool verbose;
    bool help;
    bool frozen; /* of those that compute */
} cli_args;

/* Reports a failure and returns its exit code. With `help` set, nothing else was looked at. */
int cli_parse(cli_args *args, int argc, char **argv);
/* "run sma has no option --peroid (did you mean --period?); see 'steelyard run sma --help'".
 * Returns CLI_USAGE. `workload` is NULL where none is known; `more` are further names to choose
 * from. */
int cli_unknown_option(const cli_args *args, const char *name, const char *workload,
                       const char *const *more, int n_more);
void cli_print_help(const cli_args *args);
void cli_print_option(const char *name, const char *placeholder, const char *help);

/* The name nearest to `word`, in any case, or NULL when none is near: a letter in three may differ,
 * or the rest be left out. */
const char *cli_nearest(const char *word, const char *const *names, int n);
/* Whether two names are the same, `-` and `_` being one. */
bool cli_same_name(const char *a, const char *b);

#endif
