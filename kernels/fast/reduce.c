/* How the partials of reductions in fast accuracy merge. */
#include "fast/reduce.h"

void syi_fast_add(void *into, const void *right)
{
    *(double *)into += *(const double *)right;
}

void syi_fast_spread_merge(void *into, const void *right)
{
    syi_fast_spread *a = into;
    const syi_fast_spread *b = right;
    double count = a->count + b->count, part, distance;
    if (b->count == 0.0)
        return;
    if (a->count == 0.0) {
        *a = *b;
        return;
    }
    part = b->count / count;
    distance = (b->pivot - a->pivot) + (b->offset - a->offset);
    a->squares = (a->squares + b->squares) + distance * distance * (a->count * part);
    a->offset += distance * part;
    a->count = count;
}
