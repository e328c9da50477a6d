/* The command line of a bench: --name, --name VALUE..., --name=VALUE. */
#include "harness.h"
#include "options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const char *program = "bench";

static void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void usage_error(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "; see %s --help\n", program);
    exit(2);
}

static int is_number(const bench_option *option)
{
    return !option->words && option->most > 0;
}

static void check_word(const bench_option *option, const char *text)
{
    char list[256] = "";
    for (const char *const *word = option->words; *word; word++) {
        if (!strcmp(*word, text))
            return;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[0] ? ", " : "",
                 *word);
    }
    usage_error("--%s: '%s' is none of %s", option->name, text, list);
}

static double number_of(const bench_option *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= option->least && value <= option->most) ||
        (option->least >= 1 && value != floor(value)))
        usage_error("--%s: '%s' is no %s from %g to %g", option->name, text,
                    option->least >= 1 ? "whole number" : "number", option->least, option->most);
    return value;
}

static int is_named(const bench_option *option, const char *text, double number)
{
    for (int i = 0; i < option->count; i++)
        if (is_number(option) ? option->number[i] == number : !strcmp(option->text[i], text))
            return 1;
    return 0;
}

/* What is named twice is measured once. */
static void add_value(bench_option *option, const char *text)
{
    double number = 0;
    if (!option->value)
        usage_error("--%s takes no value", option->name);
    if (option->words)
        check_word(option, text);
    if (is_number(option))
        number = number_of(option, text);
    if (is_named(option, text, number))
        return;
    if (option->count == (option->many ? BENCH_VALUES : 1))
        usage_error("--%s takes at most %d value%s", option->name, option->many ? BENCH_VALUES : 1,
                    option->many ? "s" : "");
    option->number[option->count] = number;
    option->text[option->count++] = text;
}

static bench_option *find(bench_option *options, int count, const char *name, size_t length)
{
    for (int i = 0; i < count; i++)
        if (strlen(options[i].name) == length && !strncmp(options[i].name, name, length))
            return &options[i];
    return NULL;
}

/* The defaults of what was not given; `store` keeps the pieces. */
static void fall_back(bench_option *option)
{
    static char store[2048];
    static size_t used;
    const char *rest = option->fallback;
    while (rest && *rest) {
        size_t length = strcspn(rest, " ");
        char *piece = store + used;
        if (used + length + 1 > sizeof store)
            usage_error("too many defaults");
        memcpy(piece, rest, length);
        piece[length] = '\0';
        used += length + 1;
        add_value(option, piece);
        rest += length + strspn(rest + length, " ");
    }
}

static void print_help(const char *purpose, const bench_option *options, int count)
{
    printf("usage: %s [OPTION]...\n%s\n\n", program, purpose);
    for (int i = 0; i < count; i++) {
        const bench_option *o = &options[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "", o->many ? "..." : "");
        printf("  %-26s %s", left, o->help);
        for (const char *const *word = o->words; word && *word; word++)
            printf("%s%s", word == o->words ? ": " : ", ", *word);
        if (o->fallback)
            printf(" (default %s)", o->fallback);
        putchar('\n');
    }
    exit(0);
}

int bench_wants(const bench_option *option, const char *word)
{
    for (int i = 0; i < option->count; i++)
        if (!strcmp(option->text[i], word))
            return 1;
    return !option->count;
}

int bench_most_threads(void)
{
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

void bench_check_threads(const bench_option *threads)
{
    const int most = bench_most_threads();
    for (int i = 0; i < threads->count; i++)
        if (threads->number[i] > most)
            bench_usage(
                "--threads %s: only %d run at once (as many as there are processors; without "
                "OpenMP 1); name at most %d",
                threads->text[i], most, most);
}

void bench_options_read(const char *name, const char *purpose, bench_option *options, int count,
                        int argc, char **argv)
{
    bench_option *open = NULL;
    program = name;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            print_help(purpose, options, count);
        if (strncmp(argv[i], "--", 2)) {
            if (!open || (!open->many && open->count))
                usage_error("'%s' belongs to no option", argv[i]);
            add_value(open, argv[i]);
            continue;
        }
        size_t length = strcspn(argv[i] + 2, "=");
        if (open && open->value && !open->count)
            usage_error("--%s needs a value", open->name);
        if (!(open = find(options, count, argv[i] + 2, length)))
            usage_error("unknown option '%.*s'", (int)length + 2, argv[i]);
        if (open->count)
            usage_error("--%s is given twice", open->name);
        if (argv[i][2 + length])
            add_value(open, argv[i] + 3 + length);
        else if (!open->value)
            open->count = 1;
    }
    if (open && open->value && !open->count)
        usage_error("--%s needs a value", open->name);
    for (int i = 0; i < count; i++)
        if (!options[i].count)
            fall_back(&options[i]);
}
