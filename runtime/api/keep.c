/* A profile that is measured again on schedule, with nobody watching, must not become worse: the
 * machine may have been disturbed, or a device may be away for a while. */
#include "api/keep.h"

#include "costs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Times that scatter less than the first are as good as any; more than the second times as much
 * as they did is a disturbed machine. */
static const double good_spread = 0.1, worse_spread = 3;

static double share_of(const char *device, const sy_ratio *ratios, int n)
{
    double sum = 0, own = 0;
    for (int i = 0; i < n; i++) {
        sum += ratios[i].ratio;
        if (strcmp(ratios[i].device, device) == 0)
            own = ratios[i].ratio;
    }
    return own / sum;
}

/* Of costs that cannot be read, which nothing is worse than, infinite. */
static double spread_of(const char *device, const json_t *costs)
{
    syi_cost cost;
    return syi_cost_load(json_object_get(costs, device), &cost) ? syi_cost_spread(&cost) : INFINITY;
}

/* The largest relative difference of a ratio; infinite when there are other devices. */
static double change(const sy_balance *stored, const sy_ratio *ratios, int n)
{
    double largest = stored->n_ratios == n ? 0 : INFINITY;
    for (int i = 0; i < stored->n_ratios; i++) {
        double now = share_of(stored->ratios[i].device, ratios, n);
        largest = fmax(largest, fabs(now / stored->ratios[i].ratio - 1));
    }
    return largest;
}

bool syi_keep_stored(const syi_stored_balance *stored, const sy_ratio *ratios, int n,
                     const json_t *costs, double within, char why[SYI_KEEP_TEXT])
{
    const sy_balance *old = &stored->balance;
    double changed = change(old, ratios, n);
    if (!stored->costs) {
        snprintf(why, SYI_KEEP_TEXT, "it was set by hand");
        return true;
    }
    for (int i = 0; i < old->n_ratios; i++)
        if (!(share_of(old->ratios[i].device, ratios, n) > 0)) {
            snprintf(why, SYI_KEEP_TEXT, "device %s of it could not be measured",
                     old->ratios[i].device);
            return true;
        }
    for (int i = 0; i < old->n_ratios; i++) {
        const char *device = old->ratios[i].device;
        double before = spread_of(device, stored->costs), now = spread_of(device, costs);
        if (now > good_spread && now > worse_spread * before) {
            snprintf(why, SYI_KEEP_TEXT, "the times of %s now scatter by %.0f %%, then by %.0f %%",
                     device, 100 * now, 100 * before);
            return true;
        }
    }
    if (changed > within)
        return false;
    snprintf(why, SYI_KEEP_TEXT, "no ratio differs by more than %.1f %% (the most is %.1f %%)",
             100 * within, 100 * changed);
    return within > 0;
}
