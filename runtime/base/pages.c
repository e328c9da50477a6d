#define _POSIX_C_SOURCE 200809L
#include "base/pages.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

/* An entry's top bit; the lower ones are shown to some only. */
static bool is_present(int map, uintptr_t page)
{
    uint64_t entry;
    return pread(map, &entry, sizeof entry, (off_t)(page * sizeof entry)) == sizeof entry &&
           entry >> 63;
}

bool syi_pages_present(const void *start, size_t size)
{
    enum { SAMPLES = 16 };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start;
    const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool present = map >= 0;
    for (size_t i = 0; present && size && i < SAMPLES; i++)
        present = is_present(map, (first + (size - 1) / (SAMPLES - 1) * i) / page);
    if (map >= 0)
        close(map);
    return present;
}
