/* A profile that is measured again on schedule, with nobody watching, must not become worse: the
 * machine may have been disturbed, or a device may be away for a while. */
#include "api/keep.h"

#include "base/text.h"
#include "costs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Times that scatter less than the first are as good as any; more than the second times as much
 * as they did is a disturbed machine. */
static const double good_spread = 0.1, worse_spread = 3;
/* Of samples that are so many times smaller costs tell little about large works. */
enum { MUCH_SMALLER = 16 };

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

/* Whether calls go by all of it on the devices as they are now, if only as a first guess. */
static bool is_believed(const syi_stored_balance *stored, const json_t *fingerprint)
{
    const json_t *then = json_object_get(stored->fingerprint, "devices");
    const json_t *now = json_object_get(fingerprint, "devices");
    for (int i = 0; i < stored->balance.n_ratios; i++) {
        const char *device = stored->balance.ratios[i].device;
        syi_fingerprint before, after;
        char what[SYI_KEEP_TEXT];
        if (!syi_fingerprint_load(json_object_get(then, device), &before) ||
            !syi_fingerprint_load(json_object_get(now, device), &after) ||
            syi_fingerprint_compare(&before, &after, what, sizeof what) == SYI_TRUST_NONE)
            return false;
    }
    return true;
}

static int64_t sample_of(const char *device, const json_t *costs)
{
    return json_integer_value(json_object_get(json_object_get(costs, device), "sample_size"));
}

int64_t syi_stored_sample(const syi_stored_balance *stored)
{
    int64_t largest = 0;
    for (int i = 0; i < stored->balance.n_ratios; i++) {
        const int64_t sample = sample_of(stored->balance.ratios[i].device, stored->costs);
        largest = sample > largest ? sample : largest;
    }
    return largest;
}

/* Whether the new costs of a device are not as good as the stored ones, and why. */
static bool is_worse(const char *device, const json_t *stored, const json_t *costs,
                     char why[SYI_KEEP_TEXT])
{
    const double before = spread_of(device, stored), now = spread_of(device, costs);
    const int64_t much = sample_of(device, stored), less = sample_of(device, costs);
    if (now > good_spread && now > worse_spread * before) {
        snprintf(why, SYI_KEEP_TEXT, "the times of %s now scatter by %.0f %%, then by %.0f %%",
                 device, 100 * now, 100 * before);
        return true;
    }
    if (less < much / MUCH_SMALLER) {
        snprintf(why, SYI_KEEP_TEXT,
                 "%s had time for a sample of %lld values now, of %lld then; allow more", device,
                 (long long)less, (long long)much);
        return true;
    }
    return false;
}

bool syi_keep_stored(const syi_stored_balance *stored, const sy_ratio *ratios, int n,
                     const json_t *costs, const json_t *fingerprint, double within,
                     char why[SYI_KEEP_TEXT])
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
    if (!is_believed(stored, fingerprint))
        return false;
    for (int i = 0; i < old->n_ratios; i++)
        if (is_worse(old->ratios[i].device, stored->costs, costs, why))
            return true;
    if (changed > within)
        return false;
    syi_format(why, SYI_KEEP_TEXT, "no ratio differs by more than %.1f %% (the most is %.1f %%)",
               100 * within, 100 * changed);
    return within > 0;
}
