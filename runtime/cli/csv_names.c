/* The names of a CSV file's columns, of which there may be tens of thousands: sorted, so that each
 * is found without going through all of them. */
#define _POSIX_C_SOURCE 200809L
#include "csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"

/* Names that differ in case alone lie side by side, and among them the equal ones. */
static int in_any_case(const void *a, const void *b)
{
    return strcasecmp(((const csv_name *)a)->text, ((const csv_name *)b)->text);
}

static int exactly(const void *a, const void *b)
{
    const int order = in_any_case(a, b);
    return order ? order : strcmp(((const csv_name *)a)->text, ((const csv_name *)b)->text);
}

int cli_csv_sort_names(cli_csv *csv)
{
    const size_t n = (size_t)csv->n_columns;
    csv->sorted = malloc(n * sizeof *csv->sorted);
    if (!csv->sorted)
        return cli_no_memory();
    for (int i = 0; i < csv->n_columns; i++)
        csv->sorted[i] = (csv_name){csv->names[i], i};
    qsort(csv->sorted, n, sizeof *csv->sorted, exactly);
    return CLI_DONE;
}

/* The only one among the sorted names that is the same in this order, as cli_csv_find gives it. */
static int find(const cli_csv *csv, const char *name, int (*order)(const void *, const void *))
{
    const csv_name key = {name, 0}, *last = csv->sorted + csv->n_columns - 1;
    const csv_name *at =
        bsearch(&key, csv->sorted, (size_t)csv->n_columns, sizeof *csv->sorted, order);
    if (!at)
        return -1;
    if ((at > csv->sorted && !order(&key, at - 1)) || (at < last && !order(&key, at + 1)))
        return -2;
    return at->column;
}

int cli_csv_find_exact(const cli_csv *csv, const char *name)
{
    return find(csv, name, exactly);
}

int cli_csv_find(const cli_csv *csv, const char *name)
{
    const int found = cli_csv_find_exact(csv, name);
    return found == -1 ? find(csv, name, in_any_case) : found;
}

void cli_csv_list(const cli_csv *csv, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < csv->n_columns; i++) {
        if (used + strlen(csv->names[i]) + 8 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 *csv->names[i] ? csv->names[i] : "''");
    }
}
