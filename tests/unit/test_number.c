/*
 * Wide numbers against fractions of integers: whatever is computed with them, the true value lies
 * within the bounds, and what is called certain is the double nearest to it.
 */
#include "recurrence/number.h"

#include "base/philox.h"
#include "exact/bits.h"
#include "support/oracle_num.h"

#include <criterion/criterion.h>
#include <math.h>

enum { REGISTERS = 3, STEPS = 40 };

typedef struct both {
    syi_number number;
    mpq_t exact;
} both;

static uint64_t drawn;

static int64_t below(int64_t limit)
{
    return (int64_t)(syi_random(1, 0, drawn++) % (uint64_t)limit);
}

/* q *= 2^exponent */
static void shift(mpq_t q, int64_t exponent)
{
    if (exponent >= 0)
        mpq_mul_2exp(q, q, (mp_bitcnt_t)exponent);
    else
        mpq_div_2exp(q, q, (mp_bitcnt_t)-exponent);
}

/* What is missing from the bits lies between the bounds of the rest. */
static int holds(const both *b)
{
    const syi_number *n = &b->number;
    mpq_t missing, bound;
    int right = n->sign == 0 || n->limb[n->limbs - 1] >> 63;
    mpq_inits(missing, bound, NULL);
    if (n->sign != 0)
        mpz_import(mpq_numref(missing), (size_t)n->limbs, -1, sizeof *n->limb, 0, 0, n->limb);
    shift(missing, n->sign != 0 ? n->exponent : 0);
    if (n->sign > 0)
        mpq_neg(missing, missing);
    mpq_add(missing, b->exact, missing);
    mpq_set_d(bound, n->rest.least);
    shift(bound, n->rest.exponent);
    right &= mpq_cmp(bound, missing) <= 0;
    mpq_set_d(bound, n->rest.most);
    shift(bound, n->rest.exponent);
    right &= mpq_cmp(missing, bound) <= 0;
    mpq_clears(missing, bound, NULL);
    return right;
}

/* Of few bits or of many, near 1 or far away. */
static double some_double(void)
{
    static const int places[] = {0, 0, 0, 3, -52, -53, 300, -300, -1000};
    const double sign = below(2) ? 1.0 : -1.0;
    const double mantissa = below(2) ? (double)below(16) : (double)(below(INT64_C(1) << 53));
    return sign * ldexp(mantissa, places[below(9)]);
}

static void take_double(both *to, int limbs)
{
    const double x = some_double();
    syi_number_set(&to->number, x, limbs);
    mpq_set_d(to->exact, x);
}

/* Something of which only a bound is known. */
static void take_unknown(both *to, int limbs)
{
    const double bound = fabs(some_double());
    const int64_t count = 1 + below(1000), part = below(201) - 100;
    mpq_t share;
    mpq_init(share);
    syi_number_unknown(&to->number, bound, count, limbs);
    mpq_set_d(to->exact, bound);
    mpq_set_si(share, (long)(part * count), 100);
    mpq_canonicalize(share);
    mpq_mul(to->exact, to->exact, share);
    mpq_clear(share);
}

static void scale(both *to, const both *from, int64_t columns)
{
    const int64_t multiply = below(40), divide = multiply + 1 + below(3);
    const syi_factor factor = syi_factor_of(multiply, divide);
    mpq_t ratio;
    mpq_init(ratio);
    mpq_set_si(ratio, (long)multiply, (unsigned long)divide);
    mpq_canonicalize(ratio);
    mpz_pow_ui(mpq_numref(ratio), mpq_numref(ratio), (unsigned long)columns);
    mpz_pow_ui(mpq_denref(ratio), mpq_denref(ratio), (unsigned long)columns);
    mpq_mul(to->exact, from->exact, ratio);
    if (columns == 1) {
        syi_number_scale(&to->number, &from->number, &factor);
    } else {
        to->number = from->number;
        syi_number_fade(&to->number, &factor, columns);
    }
    mpq_clear(ratio);
}

/* Whether something was computed. */
static int divide(both *to, const both *a, const both *b)
{
    if (b->number.sign == 0 || mpq_sgn(b->exact) == 0)
        return 0;
    syi_number_divide(&to->number, &a->number, &b->number);
    mpq_div(to->exact, a->exact, b->exact);
    return 1;
}

static void step(both *to, const both *a, const both *b, int limbs)
{
    switch (below(12)) {
    case 0:
    case 1:
        take_double(to, limbs);
        break;
    case 2:
        take_unknown(to, limbs);
        break;
    case 3:
    case 4:
    case 5:
        syi_number_add(&to->number, &a->number, &b->number);
        mpq_add(to->exact, a->exact, b->exact);
        break;
    case 6:
    case 7:
        syi_number_subtract(&to->number, &a->number, &b->number);
        mpq_sub(to->exact, a->exact, b->exact);
        break;
    case 8:
        syi_number_negate(&to->number, &a->number);
        mpq_neg(to->exact, a->exact);
        break;
    case 9:
        if (divide(to, a, b))
            break;
        /* fall through */
    case 10:
        scale(to, a, 1);
        break;
    default:
        scale(to, a, below(4) ? below(60) : below(1500));
    }
}

static void run(int limbs, int rows)
{
    both r[REGISTERS];
    for (int k = 0; k < REGISTERS; k++)
        mpq_init(r[k].exact);
    for (int row = 0; row < rows; row++) {
        for (int k = 0; k < REGISTERS; k++)
            take_double(&r[k], limbs);
        for (int i = 0; i < STEPS; i++) {
            both *to = &r[below(REGISTERS)];
            double y, right;
            step(to, &r[below(REGISTERS)], &r[below(REGISTERS)], limbs);
            cr_assert(holds(to), "%d limbs, row %d, step %d", limbs, row, i);
            right = num_round_quotient(mpq_numref(to->exact), mpq_denref(to->exact), 0);
            if (syi_number_round(&to->number, 0, &y))
                cr_assert_eq(syi_bits(y), syi_bits(right), "%d limbs, row %d, step %d: %a, not %a",
                             limbs, row, i, y, right);
            if (syi_number_round(&to->number, 1, &y))
                cr_assert((float)y == (float)right, "%d limbs, row %d, step %d: %a, not about %a",
                          limbs, row, i, y, right);
        }
    }
    for (int k = 0; k < REGISTERS; k++)
        mpq_clear(r[k].exact);
}

Test(number, holds_the_true_value)
{
    run(SYI_NUMBER_FEW, 4000);
    run(SYI_NUMBER_LEAST, 2000);
    run(SYI_NUMBER_MOST, 400);
}
