/* Lines of figures: JSON objects, or a table whose head is printed again when the columns change;
 * and the first line, which says on what machine and from what build the others are. */
#define _DEFAULT_SOURCE
#include "harness.h"
#include "commit.gen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MOST_FIELDS = 32, TEXT = 160 };

typedef struct field {
    char name[32], text[TEXT];
    int is_text, missing;
} field;

static int as_json, fields;
static char record[32], head[1024];
static field row[MOST_FIELDS];

void bench_output(int json)
{
    as_json = json;
}

void bench_row(const char *name)
{
    snprintf(record, sizeof record, "%s", name);
    fields = 0;
}

static field *next(const char *name)
{
    field *f = &row[fields];
    if (fields == MOST_FIELDS)
        bench_fail("too many columns");
    fields++;
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    return f;
}

void bench_word(const char *name, const char *value)
{
    field *f = next(name);
    f->is_text = 1;
    snprintf(f->text, sizeof f->text, "%s", value);
}

void bench_figure(const char *name, double value, int digits)
{
    field *f = next(name);
    f->missing = !isfinite(value);
    snprintf(f->text, sizeof f->text, "%.*f", digits, value);
}

void bench_detail(const char *name, double value, int digits)
{
    if (as_json)
        bench_figure(name, value, digits);
}

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < ' ')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_json(void)
{
    printf("{\"record\": ");
    print_quoted(record);
    for (int i = 0; i < fields; i++) {
        printf(", ");
        print_quoted(row[i].name);
        printf(": ");
        if (row[i].is_text)
            print_quoted(row[i].text);
        else
            fputs(row[i].missing ? "null" : row[i].text, stdout);
    }
    puts("}");
}

/* A list, for the one row that would be a table of one line. */
static void print_list(void)
{
    for (int i = 0; i < fields; i++)
        printf("# %-9s %s\n", row[i].name, row[i].missing ? "-" : row[i].text);
}

/* The first column says what the line is about. */
static int width(const field *f)
{
    int least = f == row ? 15 : f->is_text ? 9 : 8, name = (int)strlen(f->name);
    return name > least ? name : least;
}

static void print_table(void)
{
    char line[sizeof head] = "";
    size_t used = (size_t)snprintf(line, sizeof line, "%s:", record);
    for (int i = 0; i < fields && used < sizeof line; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, "|%s", row[i].name);
    if (strcmp(line, head)) {
        memcpy(head, line, sizeof head);
        printf("\n%s\n", record);
        for (int i = 0; i < fields; i++)
            printf(row[i].is_text ? "%-*s " : "%*s ", width(&row[i]), row[i].name);
        putchar('\n');
    }
    for (int i = 0; i < fields; i++)
        printf(row[i].is_text ? "%-*s " : "%*s ", width(&row[i]),
               row[i].missing ? "-" : row[i].text);
    putchar('\n');
}

void bench_row_end(void)
{
    bench_progress("%s", "");
    if (as_json)
        print_json();
    else if (!strcmp(record, "machine"))
        print_list();
    else
        print_table();
    if (fflush(stdout) != 0)
        bench_fail("the figures cannot be written: %s", strerror(errno));
}

/* ---- machine and build ---- */

/* Of the first processor: 0 the nearest for data, 1 the same for instructions, 2 and 3 the next.
 * (sysconf tells what all the caches of that level in the whole machine hold, on some.) */
static double cache_kib(int index)
{
    char path[64];
    double size = NAN;
    FILE *file;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    if ((file = fopen(path, "r")) != NULL) {
        if (fscanf(file, "%lfK", &size) != 1)
            size = NAN;
        fclose(file);
    }
    return size;
}

void bench_machine(const char *bench, const char *cpu, const char *isa, double clock_ns)
{
    double load[1] = {NAN};
    struct utsname system = {.sysname = "unknown"};
    char kernel[TEXT];
    uname(&system);
    snprintf(kernel, sizeof kernel, "%.40s %.60s %.30s", system.sysname, system.release,
             system.machine);
    if (getloadavg(load, 1) != 1)
        load[0] = NAN;
    bench_row("machine");
    bench_word("bench", bench);
    bench_word("cpu", cpu);
    bench_figure("cpus", (double)sysconf(_SC_NPROCESSORS_ONLN), 0);
    bench_figure("l1_kib", cache_kib(0), 0);
    bench_figure("l2_kib", cache_kib(2), 0);
    bench_figure("l3_kib", cache_kib(3), 0);
    bench_word("isa", isa);
    bench_word("system", kernel);
    bench_word("library", sy_version());
    bench_word("commit", BENCH_COMMIT);
    bench_word("build", BENCH_BUILD);
    bench_figure("load", load[0], 2);
    bench_figure("clock_ns", clock_ns, 0);
    bench_figure("passes", bench_passes(), 0);
    bench_row_end();
}
