#define _DEFAULT_SOURCE /* madvise */
#include "touch.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Older headers do not know these; older kernels say so. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void cli_touch(const void *start, size_t size, bool write)
{
    const size_t before = (uintptr_t)start % (size_t)sysconf(_SC_PAGESIZE);
    if (size)
        madvise((char *)start - before, before + size,
                write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}
