/* Writing .npy version 1.0. An output file is given its whole size at once and mapped, so that the
 * results are computed straight into it and may be larger than the memory; posix_fallocate comes
 * first, because a write to a mapping of a full disk would be a signal instead of an error. What
 * cannot be mapped (a pipe) is computed in memory. */
#define _POSIX_C_SOURCE 200809L
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "message.h"

/* The values begin at a multiple of 64, as readers that map the file like it. */
enum { ALIGNMENT = 64, HEADER_SIZE = 2 * ALIGNMENT };

static void write_header(char *block, sy_dtype dtype, const int64_t *shape, int n_dimensions)
{
    char *p = block;
    memcpy(p, "\x93NUMPY\x01\x00", 8);
    p[8] = (char)(HEADER_SIZE - 10);
    p[9] = 0;
    p += 10;
    p += sprintf(p, "{'descr': '<f%d', 'fortran_order': False, 'shape': (",
                 (int)cli_value_size(dtype));
    for (int i = 0; i < n_dimensions; i++)
        p += sprintf(p, "%s%lld", i ? ", " : "", (long long)shape[i]);
    p += sprintf(p, "%s), }", n_dimensions == 1 ? "," : "");
    memset(p, ' ', (size_t)(block + HEADER_SIZE - p));
    block[HEADER_SIZE - 1] = '\n';
}

/* 1: cannot be mapped, take memory; -1: failed, reported. */
static int map_output(cli_output *output, cli_npy_result *result)
{
    int error;
    void *map;
    if (!output->temporary)
        return 1;
    do
        error = posix_fallocate(output->fd, 0, (off_t)result->size);
    while (error == EINTR);
    if (error == EOPNOTSUPP || error == EINVAL)
        return 1;
    if (error) {
        errno = error;
        cli_output_failed(output);
        return -1;
    }
    map = mmap(NULL, result->size, PROT_READ | PROT_WRITE, MAP_SHARED, output->fd, 0);
    if (map == MAP_FAILED)
        return 1;
    result->block = map;
    result->mapped = true;
    return 0;
}

int cli_npy_create(cli_output *output, sy_dtype dtype, const int64_t *shape, int n_dimensions,
                   cli_npy_result *result)
{
    uint64_t count = 1;
    int mapped;
    *result = (cli_npy_result){0};
    for (int i = 0; i < n_dimensions; i++) {
        if (shape[i] && count > (uint64_t)INT64_MAX / 16 / (uint64_t)shape[i])
            return cli_no_memory();
        count *= (uint64_t)shape[i];
    }
    result->size = HEADER_SIZE + (size_t)count * cli_value_size(dtype);
    mapped = map_output(output, result);
    if (mapped < 0)
        return CLI_FAILED;
    if (mapped > 0)
        result->block =
            aligned_alloc(ALIGNMENT, (result->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!result->block)
        return cli_no_memory();
    write_header(result->block, dtype, shape, n_dimensions);
    result->values = result->block + HEADER_SIZE;
    return CLI_DONE;
}

int cli_npy_finish(cli_npy_result *result, cli_output *output)
{
    int code = CLI_DONE;
    if (!result->mapped)
        code = cli_output_write(output, result->block, result->size);
    cli_npy_discard(result);
    return code;
}

void cli_npy_discard(cli_npy_result *result)
{
    if (result->mapped)
        munmap(result->block, result->size);
    else
        free(result->block);
    *result = (cli_npy_result){0};
}
