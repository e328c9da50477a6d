/* Numbers as text, and text as numbers, whatever the program has set: no decimal comma, default
 * rounding. For the calling thread alone. */
#ifndef SYI_BASE_NEUTRAL_H
#define SYI_BASE_NEUTRAL_H

#include "base/arithmetic.h"

#include <stdbool.h>

typedef struct syi_neutral {
    void *own, *before; /* locales */
    syi_arithmetic arithmetic;
} syi_neutral;

/* false: no memory; then there is nothing to leave. */
bool syi_neutral_enter(syi_neutral *neutral);

/* Keeps errno. */
void syi_neutral_leave(const syi_neutral *neutral);

#endif
