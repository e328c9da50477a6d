#define _XOPEN_SOURCE 700
#include "stack.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "message.h"

/* Bytes; what OpenMP's library does not understand, it passes over. */
static bool read_stack_size(const char *text, double *out)
{
    char *unit, *end;
    const double size = (double)strtoull(text, &unit, 10);
    const char *units = "BKMG", *found;
    unit += strspn(unit, " ");
    found = *unit ? strchr(units, toupper((unsigned char)*unit)) : units + 1;
    end = unit + (*unit != '\0');
    if (unit == text || !found || end[strspn(end, " ")] || !(size > 0))
        return false;
    *out = ldexp(size, 10 * (int)(found - units));
    return true;
}

int cli_stack_check(void)
{
    const rlim_t least = 1 << 20;
    const char *threads = getenv("OMP_STACKSIZE");
    struct rlimit limit;
    double size;
    if (threads && read_stack_size(threads, &size) && size < (double)least)
        return cli_fail(CLI_FAILED,
                        "OMP_STACKSIZE=%.40s is less than the 1024 KiB that a thread needs; raise "
                        "it, or unset it",
                        threads);
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= least)
        return CLI_DONE;
    return cli_fail(CLI_FAILED,
                    "the limit of the stack is %llu KiB and must be 1024 or more; 'ulimit -s 8192' "
                    "raises it",
                    (unsigned long long)limit.rlim_cur / 1024);
}
