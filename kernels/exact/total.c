/*
 * Sums of whole rows: merging, rounding, and the exact sum. For that terms are taken apart, some at
 * a time: what they have above a grid is summed up in lanes of doubles, which hold that exactly,
 * then what is left of them above a finer one, until nothing is. Only the lanes' sums go into an
 * integer of any width.
 */
#include "exact/total.h"

#include "exact/decide.h"
#include "exact/limbs.h"

void syi_total_combine(void *into, const void *right)
{
    syi_total *total = into;
    *total = syi_total_add(*total, *(const syi_total *)right);
}

double syi_total_finish(const void *partial, int64_t divisor, double loss, int *doubt)
{
    const syi_total *total = partial;
    syi_approx sum = {total->high, total->low, total->size * SYI_TOTAL_LOSS + loss};
    double unsure, value;
    if (divisor != 1)
        sum = syi_divide(sum, (double)divisor, 1.0 / (double)divisor);
    value = syi_settle(sum, 1.0, &unsure) + 0.0; /* what underflows is +0 */
    *doubt = unsure != 0.0;
    return value;
}

/* Two lanes: what every processor has, and a compiler does not find by itself. */
typedef double pair __attribute__((vector_size(16), may_alias));
typedef uint64_t pair_bits __attribute__((vector_size(16)));

/* A lane has up to 2^LENGTH terms. */
enum { LENGTH = 8, PAIRS = 4, TERMS = 2 * PAIRS << LENGTH };

typedef struct exact_sum {
    uint64_t limb[SYI_SQUARES_LIMBS]; /* in units of 2^bottom */
    int limbs, bottom;
    int up, down; /* whether there are infinities; a NaN counts as both */
    int held;     /* terms that are not in the integer yet, all of them below MOST */
    _Alignas(16) double term[TERMS];
} exact_sum;

#define MOST 0x1p1000

/* All but the terms, of which none is held. */
static void begin(exact_sum *s, int limbs, int bottom)
{
    memset(s->limb, 0, (size_t)limbs * sizeof s->limb[0]);
    s->limbs = limbs;
    s->bottom = bottom;
    s->up = s->down = s->held = 0;
}

static pair size_of(pair a)
{
    return (pair)((pair_bits)a & UINT64_MAX >> 1);
}

static void add_product(exact_sum *s, double x, double y)
{
    const syi_parts a = syi_split(x), b = y == 1.0 ? (syi_parts){1, 0, 0} : syi_split(y);
    if (a.mantissa != 0 && b.mantissa != 0)
        syi_limbs_add(s->limb, s->limbs, (syi_u128)a.mantissa * b.mantissa,
                      a.exponent + b.exponent - s->bottom, a.negative ^ b.negative);
}

/* Makes sums of 2^LENGTH terms exact: with all terms below 2^top, what they have above a grid of
 * 2^(top + LENGTH - 52). What is left of them is half of that at most. Gives whether there is. */
static int peel(exact_sum *s, int top)
{
    const double grid = 1.5 * syi_pow2(top + LENGTH);
    const pair shift = {grid, grid};
    pair lane[PAIRS] = {{0}};
    pair_bits left = {0};
    for (int i = 0; i < s->held; i += 2 * PAIRS)
        for (int k = 0; k < PAIRS; k++) {
            pair *const term = (pair *)(s->term + i) + k;
            const pair part = (*term + shift) - shift;
            lane[k] += part;
            *term -= part;
            left |= (pair_bits)size_of(*term);
        }
    for (int k = 0; k < 2 * PAIRS; k++)
        add_product(s, lane[k / 2][k % 2], 1.0);
    return (left[0] | left[1]) != 0;
}

/* The largest magnitude of what is held, MOST if one is not below that. */
static double largest_held(exact_sum *s)
{
    pair most = {0};
    while (s->held % (2 * PAIRS) != 0)
        s->term[s->held++] = 0.0;
    for (int i = 0; i < s->held; i += 2) {
        const pair size = size_of(*(const pair *)(s->term + i)), limit = {MOST, MOST};
        const pair_bits tame = (pair_bits)(size < limit), less = (pair_bits)(size < most);
        const pair kept = (pair)(((pair_bits)size & tame) | ((pair_bits)limit & ~tame));
        most = (pair)(((pair_bits)most & less) | ((pair_bits)kept & ~less));
    }
    return most[0] > most[1] ? most[0] : most[1];
}

static void add_held(exact_sum *s)
{
    for (int top = syi_split(largest_held(s)).exponent + 53; peel(s, top); top += LENGTH - 52)
        ;
    s->held = 0;
}

/* A product's two halves are doubles unless it is too small or too large. */
static void take(exact_sum *s, double x, double y)
{
    const double term = x * y, size = fabs(term);
    if (size < MOST && (y == 1.0 || size > 0x1p-900)) {
        s->term[s->held++] = term;
        if (y != 1.0)
            s->term[s->held++] = fma(x, y, -term);
    } else if (syi_is_finite(x) && syi_is_finite(y)) {
        if (x != 0.0 && y != 0.0)
            add_product(s, x, y);
    } else {
        s->up |= !(term < 0.0);
        s->down |= !(term > 0.0);
    }
}

/* The next terms of a row; gives how many. */
static int64_t take_some(exact_sum *s, const double *x, const double *y, int64_t count)
{
    const int most = y ? TERMS / 2 : TERMS, n = count < most ? (int)count : most;
    if (!y) {
        memcpy(s->term, x, (size_t)n * sizeof *x);
        s->held = n;
        if (largest_held(s) < MOST)
            return n;
        s->held = 0;
    }
    for (int i = 0; i < n; i++)
        take(s, x[i], y ? y[i] : 1.0);
    return n;
}

/* The terms of a row, without `products` those of its first input. */
static void add_all(exact_sum *s, const syi_inputs *in, int products, int64_t count)
{
    enum { SOME = TERMS / 2 };
    double x_room[SOME], y_room[SOME];
    begin(s, products ? SYI_SQUARES_LIMBS : SYI_SUM_LIMBS, products ? 2 * SYI_BOTTOM : SYI_BOTTOM);
    for (int64_t i = 0; i < count && !(s->up && s->down);) {
        const int64_t some = count - i < SOME ? count - i : SOME;
        const double *x = syi_inputs_at(in, 0, i, some, x_room);
        const double *y = products ? syi_inputs_at(in, 1, i, some, y_room) : NULL;
        i += take_some(s, x, y, some);
        add_held(s);
    }
}

/* Few values that are not far apart, as a row's prices: two limbs hold their sum. Gives whether
 * they are. */
static int add_near(exact_sum *s, const double *x, int64_t count)
{
    enum { LIMBS = 2, BITS = 10 };
    if (count > 1 << BITS)
        return 0;
    const syi_span span = syi_measure(x, count);
    if (span.has_non_finite || span.top - span.bottom + BITS >= 64 * LIMBS)
        return 0;
    begin(s, LIMBS, span.bottom);
    for (int64_t i = 0; i < count; i++)
        add_product(s, x[i], 1.0);
    return 1;
}

double syi_total_exact(const syi_inputs *in, int products, int64_t count, int64_t divisor)
{
    exact_sum s;
    syi_big number;
    int empty = 0;
    if (products || in->floats || !add_near(&s, in->doubles[0], count))
        add_all(&s, in, products, count);
    if (s.up || s.down)
        return s.up && s.down ? syi_nan() : s.up ? INFINITY : -INFINITY;
    int negative = syi_limbs_magnitude(s.limb, s.limbs);
    while (empty < s.limbs - 1 && s.limb[empty] == 0)
        empty++;
    syi_big_set(&number, s.limb + empty, s.limbs - empty);
    return syi_decide_quotient(negative, &number, s.bottom + 64 * empty, (uint64_t)divisor, 1) +
           0.0;
}
