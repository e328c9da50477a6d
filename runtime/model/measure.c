#include "model/measure.h"

#include "base/mem.h"
#include "model/fit.h"
#include "model/stats.h"

#include <math.h>

/* The samples of the finished sizes, and of the one at work. */
typedef struct record {
    syi_sample *samples[SYI_PHASES];
    double *whole_ns; /* of the present size */
    double ready_ns;  /* what it took to make that ready */
    int count;
} record;

double syi_measure_floor(double step_ns)
{
    /* One step more or less is then a thousandth. A GPU's clock tells half a microsecond, whatever
     * the host's can do. */
    return fmax(1000 * step_ns, 100e3);
}

/* The mean of 1, 2, 4, .. calls, of which the last doubling ends above the floor. Each doubling
 * takes about as long as what there is, so the time is never exceeded by more than the floor. */
static sy_status take_sample(const syi_meter *meter, int64_t size, syi_times *out)
{
    const double began = meter->now_ns(meter->user);
    double now = began;
    int64_t calls = 0;
    *out = (syi_times){0};
    do {
        for (int64_t more = calls ? calls : 1; more; more--, calls++) {
            syi_times one;
            SYI_TRY(meter->call(meter->user, size, &one));
            out->whole_ns += one.whole_ns;
            for (int p = 0; p < SYI_PHASES; p++)
                out->phase_ns[p] += one.phase_ns[p];
        }
        now = meter->now_ns(meter->user);
    } while (now - began < meter->floor_ns && now < meter->until_ns);
    out->whole_ns /= (double)calls;
    for (int p = 0; p < SYI_PHASES; p++)
        out->phase_ns[p] /= (double)calls;
    return SY_OK;
}

/* One run of a size: for warm-up while `run` is below 0, else its sample. */
static sy_status run_once(const syi_meter *meter, int64_t size, int run, record *r)
{
    syi_times times;
    if (run < 0)
        return meter->call(meter->user, size, &times);
    SYI_TRY(take_sample(meter, size, &times));
    for (int p = 0; p < SYI_PHASES; p++)
        r->samples[p][r->count + run] = (syi_sample){(double)size, times.phase_ns[p]};
    r->whole_ns[run] = times.whole_ns;
    return SY_OK;
}

/* The runs of one size; *finished: all of them. */
static sy_status time_size(const syi_meter *meter, int64_t size, bool in_any_case, record *r,
                           bool *finished)
{
    const double began = meter->now_ns(meter->user);
    *finished = false;
    SYI_TRY(meter->ready(meter->user, size));
    r->ready_ns = meter->now_ns(meter->user) - began;
    for (int run = -meter->warmup; run < meter->runs; run++) {
        if (!in_any_case && meter->now_ns(meter->user) >= meter->until_ns)
            return SY_OK;
        SYI_TRY(run_once(meter, size, run, r));
        SYI_TRY(meter->ran(meter->user));
    }
    r->count += meter->runs;
    *finished = true;
    return SY_OK;
}

/* What a size will take, from what the size before took: to make ready, and a call. */
static double expected_ns(const syi_meter *meter, double ready_ns, const syi_measured *before,
                          int64_t size)
{
    const double calls_ns = (meter->warmup + meter->runs) * before->median_ns;
    return (ready_ns + calls_ns) * (double)size / (double)before->size;
}

static sy_status time_sizes(const syi_meter *meter, const int64_t *sizes, int n_sizes, record *r,
                            syi_measured *out)
{
    for (int k = 0; k < n_sizes; k++) {
        const double now = meter->now_ns(meter->user);
        bool finished;
        if (k && now + expected_ns(meter, r->ready_ns, out, sizes[k]) > meter->until_ns)
            break;
        SYI_TRY(time_size(meter, sizes[k], k == 0, r, &finished));
        if (!finished)
            break;
        out->size = sizes[k];
        out->median_ns = syi_median(r->whole_ns, meter->runs);
    }
    return SY_OK;
}

/* A phase that took no time does not take place. */
static sy_status fit_phases(const record *r, syi_cost *out)
{
    for (int p = 0; p < SYI_PHASES; p++) {
        int timed = 0;
        for (int i = 0; i < r->count; i++)
            if (r->samples[p][i].ns > 0)
                r->samples[p][timed++] = r->samples[p][i];
        if (timed)
            SYI_TRY(syi_fit(r->samples[p], timed, &out->phase[p]));
    }
    return SY_OK;
}

static sy_status record_open(const syi_meter *meter, int n_sizes, record *r)
{
    size_t runs = (size_t)meter->runs, room = runs * (size_t)n_sizes;
    bool complete = !!(r->whole_ns = syi_alloc(runs, sizeof *r->whole_ns));
    for (int p = 0; p < SYI_PHASES; p++)
        complete &= !!(r->samples[p] = syi_alloc(room, sizeof *r->samples[p]));
    return complete ? SY_OK : syi_no_memory(room * sizeof(syi_sample));
}

static void record_close(record *r)
{
    syi_free(r->whole_ns);
    for (int p = 0; p < SYI_PHASES; p++)
        syi_free(r->samples[p]);
}

sy_status syi_measure_sizes(const syi_meter *meter, const int64_t *sizes, int n_sizes,
                            syi_measured *out)
{
    /* Where the time is short every sample is a little less exact, rather than the last ones
     * useless: repeats take a quarter of it at most. */
    const double left_ns = meter->until_ns - meter->now_ns(meter->user);
    const double most_ns = left_ns / 4 / (2.0 * meter->runs * n_sizes);
    syi_meter limited = *meter;
    record r = {0};
    sy_status status = record_open(meter, n_sizes, &r);
    *out = (syi_measured){0};
    limited.floor_ns = fmin(meter->floor_ns, most_ns);
    if (status == SY_OK)
        status = time_sizes(&limited, sizes, n_sizes, &r, out);
    if (status == SY_OK)
        status = fit_phases(&r, &out->cost);
    record_close(&r);
    return status;
}
