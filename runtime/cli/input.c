/* Which columns or rows of an input are the workload's series. */
#define _POSIX_C_SOURCE 200809L
#include "input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "message.h"
#include "number.h"
#include "path.h"
#include "print.h"

int cli_format_of(const char *option, const char *path, cli_format *out)
{
    const char *dot = strrchr(path, '.');
    struct stat info;
    *out = CLI_CSV;
    if (strcmp(path, "-") == 0 || (dot && strcasecmp(dot, ".csv") == 0))
        return CLI_DONE;
    *out = CLI_NPY;
    if (dot && strcasecmp(dot, ".npy") == 0)
        return CLI_DONE;
    *out = CLI_CSV;
    if (cli_path_descriptor(path) >= 0)
        return CLI_DONE;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return cli_fail(CLI_FAILED, "%s '%s' is a directory; name a .csv or .npy file in it",
                            option, path);
        if (!S_ISREG(info.st_mode))
            return CLI_DONE;
    }
    return cli_fail(CLI_USAGE, "%s '%s' must end in .csv or .npy, or be - for CSV on standard %s",
                    option, path, strcmp(option, "--input") == 0 ? "input" : "output");
}

/* ---- columns of a CSV file --------------------------------------------------------------- */

/* As the first record of a file without a header row would have it. */
static bool only_numbers(const cli_csv *csv)
{
    double number;
    for (int i = 0; i < csv->n_columns; i++)
        if (cli_number_parse(csv->names[i], strlen(csv->names[i]), &number) != CLI_NUMBER_OK)
            return false;
    return true;
}

/* `inputs`: of which it is one that the workload reads; 0 where --column has named it. */
static int no_column(const cli_csv *csv, const char *name, int inputs)
{
    char list[600], choose[40] = "";
    cli_csv_list(csv, list, sizeof list);
    if (inputs > 0 && inputs <= csv->n_columns)
        snprintf(choose, sizeof choose, " (choose %d with --column)", inputs);
    return cli_fail(CLI_USAGE, "%s has no column '%s'; its columns are: %s%s",
                    cli_input_name(csv->path), name, list,
                    only_numbers(csv) ? " (is the header row missing? if not, choose with --column)"
                    : csv->n_columns == 1 && strpbrk(list, ";\t|") ? " (" CLI_CSV_BY_COMMAS ")"
                                                                   : choose);
}

/* The column of a name; a negative exit code after a reported failure. */
static int find_column(const cli_csv *csv, const char *name)
{
    int k = cli_csv_find(csv, name);
    if (k == -1)
        return -no_column(csv, name, 0);
    if (k == -2)
        return -cli_fail(CLI_USAGE, "%s has several columns '%s'; give them different names",
                         cli_input_name(csv->path), name);
    return k;
}

static int choose(cli_input *input, const char *name)
{
    int k = find_column(&input->csv, name);
    if (k < 0)
        return -k;
    for (int i = 0; i < input->n_chosen; i++)
        if (input->chosen[i] == k && input->n_inputs == 1)
            return cli_fail(CLI_USAGE, "--column names '%s' twice; name it once",
                            input->csv.names[k]);
    input->chosen[input->n_chosen++] = k;
    return CLI_DONE;
}

static int wrong_count(const sy_workload_info *workload, int named)
{
    char inputs[120];
    cli_names_text(workload->input_names, workload->n_inputs, inputs, sizeof inputs);
    return cli_fail(CLI_USAGE, "%s reads %d columns (%s), --column names %s%d", workload->name,
                    workload->n_inputs, inputs, named > workload->n_inputs ? "at least " : "",
                    named);
}

/* One input may have several columns, each a series; of several each has one. */
static int choose_listed(cli_input *input, const sy_workload_info *workload, const char *list)
{
    const int n = workload->n_inputs;
    char *text = strdup(list), *next = text;
    int code = text ? CLI_DONE : cli_no_memory();
    while (code == CLI_DONE && next) {
        char *name = next, *comma = strchr(name, ',');
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = '\0';
        if (n > 1 && input->n_chosen == n)
            code = wrong_count(workload, n + 1);
        else if (n == 1 && input->n_chosen == input->csv.n_columns)
            code = cli_fail(CLI_USAGE, "--column names more columns than the %d of %s",
                            input->csv.n_columns, cli_input_name(input->csv.path));
        else
            code = choose(input, name);
    }
    free(text);
    if (code == CLI_DONE && n > 1 && input->n_chosen < n)
        return wrong_count(workload, input->n_chosen);
    return code;
}

/* Without a name it is pandas' index. */
static bool is_time(const char *name)
{
    return !*name || strcasecmp(name, "time") == 0 || strcasecmp(name, "date") == 0 ||
           strcasecmp(name, "timestamp") == 0 || strcasecmp(name, "datetime") == 0;
}

/* For one input: its own name, else `close`, else the only column that is no time. */
static int choose_single(cli_input *input, const char *own_name)
{
    const cli_csv *csv = &input->csv;
    char list[600];
    int others = 0, last = -1;
    if (cli_csv_find(csv, own_name) != -1)
        return choose(input, own_name);
    if (cli_csv_find(csv, "close") != -1)
        return choose(input, "close");
    for (int i = 0; i < csv->n_columns; i++)
        if (!is_time(csv->names[i])) {
            last = i;
            others++;
        }
    if (only_numbers(csv)) /* a name such as 2024 is believed when --column gives it */
        return no_column(csv, "close", 1);
    if (others == 1) {
        input->chosen[input->n_chosen++] = last;
        return CLI_DONE;
    }
    cli_csv_list(csv, list, sizeof list);
    return cli_fail(CLI_USAGE, "%s has no column 'close'; choose with --column from: %s",
                    cli_input_name(csv->path), list);
}

static int choose_columns(cli_input *input, const sy_workload_info *workload, const char *list)
{
    int n = workload->n_inputs;
    input->chosen = calloc((size_t)(input->csv.n_columns + n), sizeof *input->chosen);
    if (!input->chosen)
        return cli_no_memory();
    /* A name may have a comma. */
    if (list && n == 1 && cli_csv_find(&input->csv, list) != -1)
        return choose(input, list);
    if (list)
        return choose_listed(input, workload, list);
    if (n == 1)
        return choose_single(input, workload->input_names[0]);
    for (int i = 0; i < n; i++) {
        const char *name = workload->input_names[i];
        if (cli_csv_find(&input->csv, name) == -1)
            return no_column(&input->csv, name, n);
        CLI_TRY(choose(input, name));
    }
    return CLI_DONE;
}

/* ---- opening and reading ----------------------------------------------------------------- */

static int open_csv(const char *path, const sy_workload_info *workload, const char *columns,
                    cli_input *input)
{
    input->from_csv = true;
    CLI_TRY(cli_csv_open(path, &input->csv));
    CLI_TRY(choose_columns(input, workload, columns));
    input->rows = workload->n_inputs == 1 ? input->n_chosen : 1;
    input->columns = input->csv.n_records;
    input->flat = input->rows == 1;
    return CLI_DONE;
}

/* An array of a workload with several inputs holds one input a row. */
static int open_npy(const char *path, const sy_workload_info *workload, const char *columns,
                    cli_input *input)
{
    cli_npy *npy = &input->npy;
    int n = workload->n_inputs;
    if (columns)
        return cli_fail(CLI_USAGE, "--column is for CSV; every row of %s is a series", path);
    CLI_TRY(cli_npy_open(path, input->dtype, npy));
    input->flat = npy->n_dimensions == 1 || n > 1;
    input->rows = input->flat ? 1 : npy->shape[0];
    input->columns = npy->n_dimensions == 1 ? npy->shape[0] : npy->shape[1];
    if (n > 1 && (npy->n_dimensions != 2 || npy->shape[0] != n))
        return cli_fail(CLI_USAGE,
                        "%s reads %d inputs: %s must have the shape (%d, n), an input a "
                        "row",
                        workload->name, n, path, n);
    for (int k = 0; k < n; k++)
        input->values[k] = (const char *)npy->values +
                           (size_t)k * (size_t)input->columns * cli_value_size(input->dtype);
    return CLI_DONE;
}

int cli_input_open(const char *path, const sy_workload_info *workload, const char *columns,
                   sy_dtype dtype, cli_input *input)
{
    cli_format format;
    *input = (cli_input){.n_inputs = workload->n_inputs, .dtype = dtype};
    CLI_TRY(cli_format_of("--input", path, &format));
    return format == CLI_CSV ? open_csv(path, workload, columns, input)
                             : open_npy(path, workload, columns, input);
}

/* Of a column that is several inputs, the last one is read. */
static int read_as(const cli_input *input, int i)
{
    int last = input->n_chosen - 1;
    while (input->chosen[last] != input->chosen[i])
        last--;
    return last;
}

int cli_input_read(cli_input *input)
{
    const size_t n = (size_t)input->columns, width = cli_value_size(input->dtype);
    void **to;
    int code;
    if (!input->from_csv)
        return CLI_DONE;
    if (n > SIZE_MAX / width / (size_t)input->n_chosen)
        return cli_no_memory();
    input->owned = malloc(n * (size_t)input->n_chosen * width);
    to = malloc((size_t)input->n_chosen * sizeof *to);
    for (int i = 0; input->owned && to && i < input->n_chosen; i++)
        to[i] = (char *)input->owned + (size_t)i * n * width;
    for (int i = 0; input->owned && i < input->n_inputs; i++)
        input->values[i] = (char *)input->owned + (size_t)read_as(input, i) * n * width;
    code = input->owned && to
               ? cli_csv_read(&input->csv, input->chosen, input->n_chosen, input->dtype, to)
               : cli_no_memory();
    free(to);
    return code;
}

void cli_input_close(cli_input *input)
{
    free(input->owned);
    free(input->chosen);
    cli_csv_close(&input->csv);
    cli_npy_close(&input->npy);
    *input = (cli_input){0};
}

const char *cli_input_name_of(const cli_input *input, const sy_workload_info *workload,
                              int64_t index, char buffer[24])
{
    if (input->from_csv)
        return input->csv.names[input->chosen[index]];
    if (input->n_inputs > 1)
        return workload->input_names[index];
    if (input->rows == 1)
        return "x";
    snprintf(buffer, 24, "%lld", (long long)index);
    return buffer;
}
