#define _POSIX_C_SOURCE 200809L
#include "base/neutral.h"

#include <errno.h>
#include <locale.h>

bool syi_neutral_enter(syi_neutral *neutral)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        return false;
    neutral->own = c;
    neutral->before = uselocale(c);
    neutral->arithmetic = syi_arithmetic_enter();
    return true;
}

void syi_neutral_leave(const syi_neutral *neutral)
{
    const int code = errno;
    syi_arithmetic_leave(neutral->arithmetic);
    uselocale((locale_t)neutral->before);
    freelocale((locale_t)neutral->own);
    errno = code;
}
