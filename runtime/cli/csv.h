/* CSV files as they are: a header row, and records that are kept byte for byte, so that what is
 * not computed passes through untouched. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdint.h>

#include "csv_fields.h"
#include "load.h"
#include "values.h"

/* What to do about fields that something else separates: commas are left for decimals then. */
#define CLI_CSV_BY_COMMAS "separate the fields by commas, and write decimals with a point"

typedef struct csv_name {
    const char *text;
    int column;
} csv_name;

/* Where a block of records begins, and with which. */
typedef struct csv_block {
    csv_cursor start;
    int64_t record;
} csv_block;

typedef struct cli_csv {
    const char *path;
    cli_bytes bytes;
    int n_columns;
    char **names;         /* unquoted and trimmed */
    csv_name *sorted;     /* the same in an order in which they are found quickly */
    csv_span header;      /* with a byte order mark, if there is one; without the line end */
    const char *line_end; /* the header's: "\n" or "\r\n" */
    int64_t n_records;
    csv_block *blocks; /* of records, for blocks.h */
    int64_t n_blocks;
} cli_csv;

/* Loads the file and checks the shape of every record. cli_csv_close also when it failed. */
int cli_csv_open(const char *path, cli_csv *csv);
void cli_csv_close(cli_csv *csv);

/* Fills `sorted`; for the header's reader. */
int cli_csv_sort_names(cli_csv *csv);

/* The column of a name: exact first, then in any case. -1: none; -2: several. */
int cli_csv_find(const cli_csv *csv, const char *name);
/* The same, exact only. */
int cli_csv_find_exact(const cli_csv *csv, const char *name);
/* The names in one line for a message: "time, open, close". */
void cli_csv_list(const cli_csv *csv, char *text, size_t size);

/* What to do about a line, unless it seems to have other separators than commas: `otherwise`. */
const char *cli_csv_remedy(const cli_csv *csv, csv_span text, const char *otherwise);

/* The first record of a block; of the one behind the last, the number of records. */
int64_t cli_csv_first_of(const cli_csv *csv, int64_t block);

/* Reads n columns, in one pass; to[k] has room for n_records values of the type. */
int cli_csv_read(const cli_csv *csv, const int *columns, int n, sy_dtype dtype, void *const *to);

#endif
