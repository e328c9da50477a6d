#include "model/start.h"

/* A thread that is made on an idle processor begins after 10 us at best, after 40 as a rule. */
static const double assumed_ns = 30e3;
/* It scatters more than computing does: a factor of three is nothing strange. */
static const syi_tracking how = {.band = 2, .persist = 3, .weight = 0.2};
static const double faded = 0.03; /* of the difference in a call: half of it in 23 */

syi_track syi_start_assumed(void)
{
    return (syi_track){.value = assumed_ns, .samples = 1};
}

void syi_start_add(syi_track *start, double ns)
{
    if (ns > 0)
        syi_track_add(start, &how, ns);
    else
        start->value += (assumed_ns - start->value) * faded;
}
