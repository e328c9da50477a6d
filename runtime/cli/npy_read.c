/* Reading .npy: a magic, a version, the length of the header, and the header, which is a Python
 * dictionary of three known keys. Values are used where they lie in the mapped file. */
#include "npy.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "number.h"

typedef struct npy_header {
    char type[40];
    bool has_type, has_fields, fortran, has_order, has_shape;
    int n_dimensions;
    uint64_t shape[32];
    size_t data; /* where the values begin */
} npy_header;

/* ---- the header's text ------------------------------------------------------------------- */

typedef struct scanner {
    const char *at, *end;
} scanner;

static void skip_blanks(scanner *s)
{
    while (s->at < s->end && isspace((unsigned char)*s->at))
        s->at++;
}

static bool take(scanner *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_word(scanner *s, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

static bool take_string(scanner *s, char *out, size_t size)
{
    size_t n = 0;
    char quote = take(s, '\'') ? '\'' : take(s, '"') ? '"' : '\0';
    if (!quote)
        return false;
    while (s->at < s->end && *s->at != quote && n + 1 < size)
        out[n++] = *s->at++;
    out[n] = '\0';
    return s->at < s->end && *s->at++ == quote;
}

static bool take_size(scanner *s, uint64_t *out)
{
    skip_blanks(s);
    if (s->at == s->end || !isdigit((unsigned char)*s->at))
        return false;
    for (*out = 0; s->at < s->end && isdigit((unsigned char)*s->at); s->at++) {
        if (*out > (UINT64_MAX - 9) / 10)
            return false;
        *out = *out * 10 + (uint64_t)(*s->at - '0');
    }
    take_word(s, "L"); /* Python 2 wrote long integers so */
    return true;
}

static bool take_shape(scanner *s, npy_header *h)
{
    if (h->has_shape || !take(s, '('))
        return false;
    h->has_shape = true;
    while (!take(s, ')')) {
        if (h->n_dimensions == 32 || !take_size(s, &h->shape[h->n_dimensions]))
            return false;
        h->n_dimensions++;
        if (!take(s, ','))
            return take(s, ')');
    }
    return true;
}

/* A type of fields is a list. */
static bool take_type(scanner *s, npy_header *h)
{
    int depth = 1;
    if (h->has_type)
        return false;
    h->has_type = true;
    if (take_string(s, h->type, sizeof h->type))
        return true;
    if (!take(s, '['))
        return false;
    h->has_fields = true;
    for (; depth && s->at < s->end; s->at++)
        depth += *s->at == '[' ? 1 : *s->at == ']' ? -1 : 0;
    return depth == 0;
}

static bool take_entry(scanner *s, npy_header *h)
{
    char key[32];
    if (!take_string(s, key, sizeof key) || !take(s, ':'))
        return false;
    if (strcmp(key, "descr") == 0)
        return take_type(s, h);
    if (strcmp(key, "shape") == 0)
        return take_shape(s, h);
    if (h->has_order || strcmp(key, "fortran_order") != 0)
        return false;
    h->has_order = true;
    h->fortran = take_word(s, "True");
    return h->fortran || take_word(s, "False");
}

static bool parse_dictionary(scanner s, npy_header *h)
{
    if (!take(&s, '{'))
        return false;
    while (!take(&s, '}')) {
        if (!take_entry(&s, h))
            return false;
        if (!take(&s, ',')) {
            if (!take(&s, '}'))
                return false;
            break;
        }
    }
    skip_blanks(&s);
    return s.at == s.end && h->has_type && h->has_order && h->has_shape;
}

/* ---- the file ---------------------------------------------------------------------------- */

static int damaged(const char *path, const char *what)
{
    return cli_fail(CLI_FAILED, "%s: %s; save or copy the array again", path, what);
}

static int parse_header(const char *path, const cli_bytes *bytes, npy_header *h)
{
    const unsigned char *p = (const unsigned char *)bytes->data;
    size_t start, length;
    *h = (npy_header){0};
    if (bytes->size == 0)
        return damaged(path, "the file is empty");
    if (bytes->size < 6 || memcmp(p, "\x93NUMPY", 6) != 0)
        return cli_fail(CLI_FAILED,
                        "%s is no .npy file: it does not begin as one; if it is a "
                        "table, let its name end in .csv",
                        path);
    if (bytes->size < 12)
        return damaged(path, "the file is cut short within its header");
    if (p[6] < 1 || p[6] > 3)
        return cli_fail(CLI_FAILED, "%s is .npy version %d.%d; save it as 1.0, 2.0 or 3.0", path,
                        p[6], p[7]);
    start = p[6] == 1 ? 10 : 12;
    length = (size_t)p[8] | (size_t)p[9] << 8;
    if (p[6] > 1)
        length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (length > bytes->size - start)
        return damaged(path, "the file is cut short within its header");
    h->data = start + length;
    if (!parse_dictionary((scanner){bytes->data + start, bytes->data + h->data}, h))
        return damaged(path, "the header is not readable");
    return CLI_DONE;
}

/* Bytes of one value; 0 after a reported failure. */
static size_t value_size(const char *path, const npy_header *h)
{
    if (strcmp(h->type, "<f8") == 0)
        return 8;
    if (strcmp(h->type, "<f4") == 0)
        return 4;
    if (h->has_fields)
        cli_fail(CLI_FAILED,
                 "%s holds records of fields; save one field, as "
                 "numpy.save(file, array['close']) does",
                 path);
    else
        cli_fail(CLI_FAILED,
                 "%s holds %s%s; steelyard reads '<f8' and '<f4': save "
                 "it with .astype('<f8')",
                 path, h->type[0] == '>' ? "big-endian " : "", h->type);
    return 0;
}

static int check_shape(const char *path, const npy_header *h)
{
    if (h->n_dimensions < 1 || h->n_dimensions > 2)
        return cli_fail(CLI_FAILED,
                        "%s has %d dimensions; steelyard reads 1 (a series) or 2 (a "
                        "series a row): reshape it",
                        path, h->n_dimensions);
    for (int i = 0; i < h->n_dimensions; i++)
        if (h->shape[i] == 0)
            return cli_fail(CLI_FAILED, "%s holds no values; at least one is needed", path);
    if (h->fortran && h->n_dimensions == 2)
        return cli_fail(CLI_FAILED,
                        "%s is in Fortran order, and each of its %llu rows is a series; save "
                        "numpy.ascontiguousarray(array), or array.T if each column is one",
                        path, (unsigned long long)h->shape[0]);
    return CLI_DONE;
}

static int check_size(const char *path, const npy_header *h, size_t width, size_t size)
{
    uint64_t count = h->shape[0], others = h->n_dimensions == 2 ? h->shape[1] : 1;
    size_t have = size - h->data;
    if (count > (uint64_t)INT64_MAX / 8 / others)
        return damaged(path, "the header promises more values than a file can hold");
    count *= others;
    if (have / width < count)
        return cli_fail(CLI_FAILED,
                        "%s is cut short: the header promises %llu values, the file "
                        "holds %llu; save or copy the array again",
                        path, (unsigned long long)count, (unsigned long long)(have / width));
    if (have == count * width)
        return CLI_DONE;
    return cli_fail(CLI_FAILED,
                    "%s has %llu bytes after its %llu values; save or copy the array "
                    "again",
                    path, (unsigned long long)(have - count * width), (unsigned long long)count);
}

/* `index`: among all values; it is named as NumPy does it. */
static int too_large(const char *path, const cli_npy *npy, size_t index, double value)
{
    const size_t columns = (size_t)npy->shape[1];
    char number[CLI_NUMBER_SIZE], row[32] = "";
    cli_number_print(value, number);
    if (npy->n_dimensions == 2)
        snprintf(row, sizeof row, "%zu, ", index / columns);
    return cli_fail(CLI_FAILED,
                    "%s: %s at [%s%zu] is too large for a float; correct it, or leave out "
                    "--dtype f32",
                    path, number, row, npy->n_dimensions == 2 ? index % columns : index);
}

static int convert(const char *path, const char *data, size_t width, size_t count, sy_dtype dtype,
                   cli_npy *npy)
{
    for (size_t i = 0; i < count; i++) {
        union {
            double wide;
            float narrow;
        } value;
        memcpy(&value, data + width * i, width);
        if (width == 4)
            value.wide = (double)value.narrow;
        else if (isinf((float)value.wide) && !isinf(value.wide))
            return too_large(path, npy, i, value.wide);
        cli_value_set(npy->converted, dtype, i, value.wide);
    }
    return CLI_DONE;
}

static int take_values(const char *path, const char *data, size_t width, sy_dtype dtype,
                       cli_npy *npy)
{
    const size_t wanted = cli_value_size(dtype);
    const size_t count = (size_t)npy->shape[0] * (size_t)npy->shape[1];
    if (width == wanted && (uintptr_t)data % wanted == 0) {
        npy->values = data;
        return CLI_DONE;
    }
    npy->values = npy->converted = malloc(count * wanted);
    if (!npy->converted)
        return cli_no_memory();
    if (width != wanted)
        return convert(path, data, width, count, dtype, npy);
    memcpy(npy->converted, data, count * width);
    return CLI_DONE;
}

int cli_npy_open(const char *path, sy_dtype dtype, cli_npy *npy)
{
    npy_header h;
    size_t width;
    *npy = (cli_npy){0};
    CLI_TRY(cli_load(path, &npy->bytes));
    CLI_TRY(parse_header(path, &npy->bytes, &h));
    width = value_size(path, &h);
    if (!width)
        return CLI_FAILED;
    CLI_TRY(check_shape(path, &h));
    CLI_TRY(check_size(path, &h, width, npy->bytes.size));
    npy->n_dimensions = h.n_dimensions;
    npy->shape[0] = (int64_t)h.shape[0];
    npy->shape[1] = h.n_dimensions == 2 ? (int64_t)h.shape[1] : 1;
    return take_values(path, npy->bytes.data + h.data, width, dtype, npy);
}

void cli_npy_close(cli_npy *npy)
{
    free(npy->converted);
    cli_unload(&npy->bytes);
    *npy = (cli_npy){0};
}
