/* Floats to doubles and back, by each instruction set of this machine: every value as the language
 * converts it, whatever the place in a line, and nothing beside what was asked for. */
#include "element/element.h"

#include "base/philox.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* More than some lines of floats, and places that cover one. */
enum { MOST = 100, PLACES = 18, ROOM = MOST + 2 * PLACES };

static const double special[] = {
    0.0,      -0.0,      1e-60,       -1e-60,      DBL_MAX,
    -DBL_MAX, 1e-42,     -1e-42,      1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-50,
    INFINITY, -INFINITY, (double)NAN, 0.1};
enum { SPECIAL = sizeof special / sizeof *special };

static void fill(double *x)
{
    for (int i = 0; i < ROOM; i++) {
        const uint64_t bits = syi_random(5, 0, (uint64_t)i);
        x[i] =
            i % 3 == 0 ? special[(i / 3) % SPECIAL] : ldexp((double)bits, (int)(bits % 200) - 100);
    }
}

/* What is rounded to zero is +0. */
static float narrowed(double x)
{
    const float nearest = (float)x;
    return nearest == 0 ? 0 : nearest;
}

static int is_same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check_narrow(syi_narrow_fn narrow, int isa, int place, int count)
{
    static const float untouched = 12345;
    double x[ROOM];
    _Alignas(64) float y[ROOM];
    fill(x);
    for (int i = 0; i < ROOM; i++)
        y[i] = untouched;
    narrow(y + place, x + place, count);
    for (int i = 0; i < ROOM; i++) {
        const int is_in = i >= place && i < place + count;
        cr_assert(is_same(y[i], is_in ? narrowed(x[i]) : untouched),
                  "isa %d, %d from place %d: %a at %d", isa, count, place, (double)y[i], i);
    }
}

static void check_widen(int isa, int place, int count, int ahead)
{
    static const double untouched = 12345;
    double x[ROOM], y[ROOM];
    _Alignas(64) float from[ROOM];
    fill(x);
    for (int i = 0; i < ROOM; i++) {
        from[i] = (float)x[i];
        y[i] = untouched;
    }
    syi_widen[isa](y + place, from + place, count, ahead);
    for (int i = 0; i < ROOM; i++) {
        const double right = i >= place && i < place + count ? (double)from[i] : untouched;
        cr_assert(memcmp(&y[i], &right, sizeof right) == 0 || (isnan(y[i]) && isnan(right)),
                  "isa %d, %d from place %d, asking for %d: %a at %d", isa, count, place, ahead,
                  y[i], i);
    }
}

Test(element, widens_and_narrows)
{
    for (int isa = 0; isa <= (int)syi_isa_detect(); isa++)
        for (int place = 0; syi_widen[isa] && place < PLACES; place++)
            for (int count = 0; count <= MOST; count++) {
                check_narrow(syi_narrow[isa], isa, place, count);
                check_narrow(syi_narrow_past[isa], isa, place, count);
                check_widen(isa, place, count, 0);
                check_widen(isa, place, count, 40);
            }
}
