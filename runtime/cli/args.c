/* The option parser that all commands share. */
#define _POSIX_C_SOURCE 200809L
#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"
#include "number.h"

/* The options of every command come after the command's own. */
static const char *const common_names[] = {"devices", "cuda-driver", "nvml", "verbose", "help"};

bool cli_same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
            return false;
    return *a == *b;
}

/* ---- near names -------------------------------------------------------------------------- */

enum { MAX_NAME = 48 };

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters, in any case, to insert, delete, replace or swap. */
static int distance(const char *a, const char *b)
{
    int row[3][MAX_NAME + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > MAX_NAME || m > MAX_NAME)
        return INT_MAX;
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *older = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]) && older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *cli_nearest(const char *word, const char *const *names, int n)
{
    const char *nearest = NULL;
    const int length = (int)strlen(word);
    int best = length < 3 ? 1 : length / 3;
    for (int i = 0; i < n; i++) {
        int d = distance(word, names[i]);
        if (length >= 3 && d > 1 && strncasecmp(word, names[i], (size_t)length) == 0)
            d = 1;
        if (d <= best && (!nearest || d < best)) {
            best = d;
            nearest = names[i];
        }
    }
    return nearest;
}

int cli_unknown_option(const cli_args *args, const char *name, const char *workload,
                       const char *const *more, int n_more)
{
    const char *names[CLI_MAX_EXTRAS + 32];
    const char *nearest;
    int n = 0;
    for (int i = 0; i < args->n_options && n < 32; i++)
        names[n++] = args->options[i].name;
    for (size_t i = 0; i < sizeof common_names / sizeof *common_names && n < 40; i++)
        names[n++] = common_names[i];
    for (int i = 0; i < n_more && n < CLI_MAX_EXTRAS + 32; i++)
        names[n++] = more[i];
    nearest = cli_nearest(name, names, n);
    return cli_fail(CLI_USAGE, "%s%s%s has no option --%s%s%s%s; see 'steelyard %s%s%s --help'",
                    args->command, workload ? " " : "", workload ? workload : "", name,
                    nearest ? " (did you mean --" : "", nearest ? nearest : "", nearest ? "?)" : "",
                    args->command, workload ? " " : "", workload ? workload : "");
}

/* ---- parsing ----------------------------------------------------------------------------- */

/* Digits are taken as they are, since a double has whole numbers up to 2^53 only; it is for 1e6. */
static bool parse_whole(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '+' || *text == '-');
    double value;
    if (*digits && strspn(digits, "0123456789") == strlen(digits)) {
        errno = 0;
        *out = strtoll(text, NULL, 10);
        return errno == 0;
    }
    if (cli_number_parse(text, strlen(text), &value) != CLI_NUMBER_OK || value != floor(value) ||
        !(fabs(value) < 9223372036854775808.0))
        return false;
    *out = (int64_t)value;
    return true;
}

static int set_integer(const cli_option *o, const char *text)
{
    int64_t value;
    if (!parse_whole(text, &value) || value < o->min || value > o->max)
        return cli_fail(CLI_USAGE, "--%s must be a whole number from %lld to %lld, not '%s'",
                        o->name, (long long)o->min, (long long)o->max, text);
    *(int64_t *)o->to = value;
    return CLI_DONE;
}

static int set_option(cli_option *o, const char *text)
{
    if (o->given)
        return cli_fail(CLI_USAGE, "--%s is given twice; give it once", o->name);
    o->given = true;
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)o->to = true;
        return CLI_DONE;
    case CLI_TEXT:
        *(const char **)o->to = text;
        return CLI_DONE;
    case CLI_INTEGER:
        return set_integer(o, text);
    default:
        if (cli_number_parse(text, strlen(text), o->to) != CLI_NUMBER_OK ||
            !(*(double *)o->to >= 0) || isinf(*(double *)o->to))
            return cli_fail(CLI_USAGE, "--%s must be a number that is not negative, not '%s'",
                            o->name, text);
        return CLI_DONE;
    }
}

static int keep_extra(cli_args *args, const char *name, const char *value)
{
    cli_extra *extra = &args->extras[args->n_extras];
    if (args->n_extras == CLI_MAX_EXTRAS || strlen(name) >= sizeof extra->name)
        return cli_unknown_option(args, name, NULL, NULL, 0);
    for (int i = 0; i < args->n_extras; i++)
        if (cli_same_name(args->extras[i].name, name))
            return cli_fail(CLI_USAGE, "--%s is given twice; give it once", name);
    snprintf(extra->name, sizeof extra->name, "%s", name);
    extra->value = value;
    args->n_extras++;
    return CLI_DONE;
}

static cli_option *find_option(cli_option *options, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (cli_same_name(options[i].name, name))
            return &options[i];
    return NULL;
}

/* One `--name` with its value. */
typedef struct given {
    char name[64];
    cli_option *option; /* NULL: there is none of that name */
    const char *value;
} given;

/* Moves *i past what it takes. */
static given take_option(cli_args *args, cli_option *common, int n_common, char **argv, int argc,
                         int *i)
{
    const char *text = argv[*i] + 2, *equals = strchr(text, '=');
    given g = {.value = equals ? equals + 1 : NULL};
    snprintf(g.name, sizeof g.name, "%.*s", equals ? (int)(equals - text) : (int)strlen(text),
             text);
    g.option = find_option(args->options, args->n_options, g.name);
    if (!g.option)
        g.option = find_option(common, n_common, g.name);
    if (!equals && !(g.option && g.option->kind == CLI_FLAG) && *i + 1 < argc &&
        strncmp(argv[*i + 1], "--", 2) != 0)
        g.value = argv[++*i];
    return g;
}

static int keep_option(cli_args *args, const given *g)
{
    const char *name = g->name, *value = g->value;
    cli_option *o = g->option;
    if (!o)
        return args->keep_extras ? keep_extra(args, name, value)
                                 : cli_unknown_option(args, name, NULL, NULL, 0);
    if (o->kind == CLI_FLAG && value)
        return cli_fail(CLI_USAGE, "--%s takes no value, but is given '%s'", name, value);
    if (o->kind != CLI_FLAG && !value)
        return cli_fail(CLI_USAGE, "--%s needs a value, %s; see 'steelyard %s --help'", name,
                        o->placeholder, args->command);
    return set_option(o, value);
}

static int take_positional(cli_args *args, const char *text)
{
    if (args->n_positionals == args->max_positionals)
        return cli_fail(CLI_USAGE, "'%s' is one argument too many; usage: steelyard %s %s", text,
                        args->command, args->usage);
    args->positionals[args->n_positionals++] = text;
    return CLI_DONE;
}

/* Help is given whatever else is wrong with the line. */
static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int cli_parse(cli_args *args, int argc, char **argv)
{
    bool only_positionals = false;
    cli_option common[] = {
        {.name = "devices", .kind = CLI_TEXT, .to = &args->devices, .placeholder = "LIST"},
        {.name = "cuda-driver", .kind = CLI_TEXT, .to = &args->cuda_driver, .placeholder = "PATH"},
        {.name = "nvml", .kind = CLI_TEXT, .to = &args->nvml, .placeholder = "PATH"},
        {.name = "verbose", .kind = CLI_FLAG, .to = &args->verbose},
        {.name = "help", .kind = CLI_FLAG, .to = &args->help}};
    args->help = wants_help(argc, argv);
    for (int i = 0; i < argc; i++) {
        const char *text = argv[i];
        if (args->help && text[0] != '-' && args->n_positionals == args->max_positionals)
            continue;
        if (!only_positionals && strcmp(text, "--") == 0) {
            only_positionals = true;
        } else if (only_positionals || text[0] != '-' || !text[1]) {
            CLI_TRY(take_positional(args, text));
        } else if (text[1] == '-') {
            given g = take_option(args, common, sizeof common / sizeof *common, argv, argc, &i);
            if (!args->help)
                CLI_TRY(keep_option(args, &g));
        } else if (!args->help) {
            return cli_fail(CLI_USAGE, "there is no option '%s'; see 'steelyard %s --help'", text,
                            args->command);
        }
    }
    return CLI_DONE;
}

/* ---- help -------------------------------------------------------------------------------- */

void cli_print_option(const char *name, const char *placeholder, const char *help)
{
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", name, placeholder ? " " : "",
             placeholder ? placeholder : "");
    cli_print(stdout, "  %-26s %s\n", left, help);
}

void cli_print_help(const cli_args *args)
{
    cli_print(stdout, "usage: steelyard %s %s\n\n%s\n\noptions:\n", args->command, args->usage,
              args->summary);
    for (int i = 0; i < args->n_options; i++)
        cli_print_option(args->options[i].name, args->options[i].placeholder,
                         args->options[i].help);
    cli_print_option("devices", "LIST",
                     "auto (default), cpu, cuda, cuda:0,cuda:1,cpu, or simulated ones:");
    cli_print(stdout, "  %-26s %s\n", "", "sim:NAME:speed=3:memory=6GiB:link=12GB/s:latency=20us");
    cli_print_option("cuda-driver", "PATH", "the CUDA driver's library (the system's)");
    cli_print_option("nvml", "PATH", "NVML's library, which knows the load of GPUs (the system's)");
    cli_print_option("verbose", NULL, "also show what the library says about its work");
    cli_print_option("help", NULL, "this text");
}
