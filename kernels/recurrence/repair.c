/*
 * A stretch is first computed from far enough to its left that the unknown state there has decayed
 * below what mostly matters, in pairs of doubles, then with wide numbers; columns that this does
 * not decide are begun farther and farther away, at last at the row's beginning, with bits enough
 * for any doubles. None is begun while the price stands still, but before that: what is left of the
 * state from then on has a sign, and that is often all that is wanted of it (number.h). Every step
 * of this gives the correctly rounded value or says that it cannot, so where a stretch begins does
 * not show in its bits.
 */
#include "recurrence/repair.h"

#include "exact/bits.h"

#include <math.h>
#include <string.h>

enum { LANES = 16, BLOCK = 64 * LANES };

/* A little more than the largest |x| of a block, infinite when a value is not finite: by the upper
 * halves, in a loop that becomes vectors. */
static double bound_of_block(const double *x)
{
    int32_t top[LANES] = {0}, largest = 0;
    for (int64_t i = 0; i < BLOCK; i += LANES)
        for (int k = 0; k < LANES; k++) {
            int32_t upper = (int32_t)(syi_bits(x[i + k]) >> 32 & INT32_MAX);
            top[k] = upper > top[k] ? upper : top[k];
        }
    for (int k = 0; k < LANES; k++)
        largest = top[k] > largest ? top[k] : largest;
    return largest >= 0x7fefffff ? INFINITY : syi_from_bits(((uint64_t)largest + 1) << 32);
}

/* The first value that is not finite in x[0 .. count), or count; and the largest |x| before it, or
 * a little more. */
static int64_t scan(const double *x, int64_t count, double *peak)
{
    int64_t at = 0;
    *peak = 0.0;
    for (; at + BLOCK <= count; at += BLOCK) {
        double largest = bound_of_block(x + at);
        if (largest == INFINITY)
            break;
        *peak = largest > *peak ? largest : *peak;
    }
    for (; at < count && syi_is_finite(x[at]); at++)
        *peak = fabs(x[at]) > *peak ? fabs(x[at]) : *peak;
    return at;
}

/* As scan(), of columns [from, last) of input k. */
static int64_t scan_input(const syi_inputs *in, int k, int64_t from, int64_t last, double *peak)
{
    const int64_t most = in->floats ? BLOCK : last - from;
    double room[BLOCK];
    int64_t at = from, count, met;
    *peak = 0.0;
    for (; at < last; at += count) {
        double largest;
        count = last - at < most ? last - at : most;
        met = scan(syi_inputs_at(in, k, at, count, room), count, &largest);
        *peak = largest > *peak ? largest : *peak;
        if (met < count)
            return at + met;
    }
    return at;
}

/* The first column of [from, last) at which an input is not finite, or `last`; and the largest |x|
 * before it, or a little more. The inputs before the last one are read from column 1 on. */
static int64_t look(const syi_inputs *in, int64_t from, int64_t last, int late, double *peak)
{
    *peak = 0.0;
    for (int k = 0; k <= late; k++) {
        int64_t begin = from > 0 || k == late ? from : 1;
        double largest;
        if (begin >= last)
            continue;
        last = scan_input(in, k, begin, last, &largest);
        *peak = largest > *peak ? largest : *peak;
    }
    return last;
}

void syi_number_seed(syi_number *out, const syi_inputs *in, int64_t last, int64_t count, int limbs)
{
    syi_factor mean = syi_factor_of(1, count);
    const double final = syi_input(in, 0, last);
    syi_number above;
    syi_number_set(out, 0.0, limbs);
    for (int64_t i = last + 1 - count; i < last; i++) {
        syi_number_set_difference(&above, syi_input(in, 0, i), final, limbs);
        syi_number_add(out, out, &above);
    }
    syi_number_scale(out, out, &mean);
}

static void fill_nan(const sy_segment *row, int outputs, int64_t from, int64_t to)
{
    for (int k = 0; k < outputs; k++)
        for (int64_t i = from; i < to; i++)
            row->out[k][i] = syi_nan();
}

/* More than is left of any finite value after PAST times the columns that SYI_REPAIR_BITS take. */
#define PAST      4
#define FORGOTTEN 0x1p-280

/* A bound of the weighted means of |x| up to column `start`, which the state there is made of. */
static double bound_at(const syi_inputs *in, int64_t begin, int64_t start, int late)
{
    double peak;
    look(in, begin, start + 1, late, &peak);
    return begin > 0 ? peak + FORGOTTEN : peak;
}

/* What the attempts at a stretch share. */
typedef struct syi_decision {
    const sy_segment *row;
    syi_inputs in;
    const syi_repairer *how;
    syi_past *past;
} syi_decision;

/* Columns of [from, to) at which input k is another than at the one before. */
static int64_t count_moves(const syi_inputs *in, int k, int64_t from, int64_t to)
{
    int64_t moves = 0;
    if (in->floats)
        for (int64_t i = from; i < to; i++)
            moves += in->floats[k][i] != in->floats[k][i - 1];
    else
        for (int64_t i = from; i < to; i++)
            moves += in->doubles[k][i] != in->doubles[k][i - 1];
    return moves;
}

/* Columns before `first`, from `begin` on, since when no input has moved: they leave as much of a
 * state that is not known as of the values themselves. */
static int64_t still_before(const syi_inputs *in, int64_t begin, int64_t first, int late)
{
    enum { AT_ONCE = 32 };
    int64_t still = first - begin;
    for (int k = 0; k <= late; k++) {
        int64_t at = first;
        for (; at > first - still && !count_moves(in, k, at, at + 1); at--) /* as a rule none */
            while (at - AT_ONCE > first - still && !count_moves(in, k, at - AT_ONCE, at))
                at -= AT_ONCE;
        still = first - at;
    }
    return still;
}

/* Where the last halt before `column` begins, or `least`. */
static int64_t last_halt(const syi_decision *all, int64_t column, int64_t least)
{
    for (int64_t at = column; at > all->past->begin && at >= least; at--) {
        const int64_t still = still_before(&all->in, all->past->begin, at, all->how->late);
        at -= still;
        if (still > all->how->decay / 8)
            return at;
    }
    return least;
}

/* Where an attempt begins: `back` before its first column, but well before the last halt there, and
 * not within another. */
static int64_t start_of(const syi_decision *all, int64_t first, int64_t back)
{
    const int64_t room = all->how->decay / 4, halt = last_halt(all, first, first - back + room);
    const int64_t start = halt - room < first - back ? halt - room : first - back;
    const int64_t other = last_halt(all, start, start);
    return other < start ? other - room : start;
}

/* A column of wide numbers takes so many times as long as one of pairs, at most. */
#define MOVES 16

static void decide(const syi_decision *all, syi_attempt attempt);

/* Goes back for what the attempt has left undecided last. */
static void decide_farther(syi_attempt *attempt)
{
    const int64_t decay = attempt->decision->how->decay;
    syi_attempt farther = {.first = attempt->unsure_from, .last = attempt->unsure_to};
    attempt->unsure_from = attempt->unsure_to = attempt->last;
    if (attempt->from_seed && attempt->limbs == SYI_NUMBER_MOST)
        return; /* closer to a tie than any data met so far: it stays as it was rounded */
    if (attempt->limbs == 0) { /* from the same columns: others may have to be fetched */
        farther.back = attempt->back;
        farther.limbs = SYI_NUMBER_FEW;
    } else {
        farther.back = attempt->back < decay ? decay : 8 * attempt->back;
        farther.limbs = attempt->from_seed ? SYI_NUMBER_MOST : SYI_NUMBER_LEAST;
    }
    decide(attempt->decision, farther);
}

void syi_attempt_tell(syi_attempt *attempt, int64_t column, int is_certain)
{
    const int64_t near = attempt->decision->how->decay / 4;
    if (is_certain && column - attempt->unsure_to >= near)
        decide_farther(attempt);
    if (is_certain)
        return;
    if (attempt->unsure_from == attempt->last)
        attempt->unsure_from = column;
    attempt->unsure_to = column + 1;
}

/* Whether what an attempt goes through hardly moves: wide numbers pass what does not at once, and
 * there the values are often ties but for what is left of long ago, which pairs do not tell. */
static int is_still(const syi_decision *all, const syi_attempt *attempt)
{
    enum { PLACES = 16, SOME = 64 };
    const int64_t start = attempt->from_seed ? all->how->warmup : attempt->start;
    const int64_t columns = attempt->first - start;
    const int64_t apart = columns > PLACES * SOME ? columns / PLACES : SOME;
    int64_t moves = 0, met = 0;
    for (int64_t at = start + 1; at <= attempt->first; at += apart) {
        const int64_t end = attempt->first + 1 - at < SOME ? attempt->first + 1 : at + SOME;
        met += end - at;
        for (int k = 0; k <= all->how->late; k++)
            moves += count_moves(&all->in, k, at, end);
    }
    return columns >= MOVES && moves * MOVES < met;
}

/* Where an attempt starts, and what is known of the state there; 0: columns are lacking for that.
 */
static int place(const syi_decision *all, syi_attempt *attempt)
{
    const syi_repairer *how = all->how;
    int64_t begin = 0;
    attempt->start = start_of(all, attempt->first, attempt->back);
    attempt->from_seed = attempt->start <= how->warmup;
    if (!attempt->from_seed)
        begin = attempt->start > PAST * how->decay ? attempt->start - PAST * how->decay : 0;
    if (begin < all->past->begin) {
        all->past->wanted = begin < all->past->wanted ? begin : all->past->wanted;
        return 0;
    }
    if (!attempt->from_seed)
        attempt->peak = bound_at(&all->in, begin, attempt->start, how->late);
    return 1;
}

/* By how many columns farther it had better start, for what has been before is larger than the
 * values now, say a spike. */
static int64_t columns_of_spike(const syi_decision *all, const syi_attempt *attempt)
{
    const double size = fabs(syi_input(&all->in, all->how->late, attempt->first));
    int bits = 0, more = 0;
    if (attempt->from_seed || !(size > 0.0) || !syi_is_finite(attempt->peak))
        return 0;
    frexp(attempt->peak, &bits);
    frexp(size, &more);
    bits -= more;
    return bits > 16 ? (int64_t)(bits / SYI_REPAIR_BITS * (double)all->how->decay) : 0;
}

/* One attempt, and farther ones at what it leaves; what they lack for that they say. */
static void decide(const syi_decision *all, syi_attempt attempt)
{
    const syi_repairer *how = all->how;
    attempt.decision = all;
    attempt.in = &all->in;
    attempt.unsure_to = attempt.unsure_from = attempt.last;
    if (!place(all, &attempt))
        return;
    const int64_t farther = attempt.limbs == 0 ? columns_of_spike(all, &attempt) : 0;
    attempt.back += farther;
    if (farther > 0 && !place(all, &attempt))
        return;
    if (attempt.limbs == 0 && is_still(all, &attempt))
        attempt.limbs = SYI_NUMBER_FEW;
    if (attempt.from_seed && attempt.limbs > 0 && attempt.limbs < SYI_NUMBER_LEAST)
        attempt.limbs = SYI_NUMBER_LEAST;
    (attempt.limbs > 0 ? how->compute : how->compute_in_pairs)(all->row, &attempt);
    if (attempt.unsure_from < attempt.last)
        decide_farther(&attempt);
}

/* Bits of decay that are left after a kernel, whose states are by no more than that worse than
 * pairs, and columns that are worth calling it. */
#define LEFT_BITS 16.0
enum { WORTH_A_CALL = 256 };

int64_t syi_attempt_approach(const sy_segment *row, const syi_attempt *attempt,
                             const syi_workload *workload, void *state, size_t size)
{
    const syi_repairer *how = attempt->decision->how;
    const syi_run_fn best = workload->run[syi_isa_detect()];
    const int64_t left = (int64_t)((double)how->decay * (LEFT_BITS / SYI_REPAIR_BITS)) + 1;
    const double *in[SYI_MAX_ARRAYS];
    double *const none[SYI_MAX_ARRAYS] = {NULL};
    syi_carry before = {{0}}, end;
    syi_piece piece = {.segment = *row, .start = &before, .end = &end};
    sy_segment *segment = &piece.segment;
    segment->count = attempt->first - left - attempt->start;
    if (attempt->from_seed || attempt->in->floats || segment->count < WORTH_A_CALL)
        return attempt->start;
    for (int k = 0; k <= how->late; k++)
        in[k] = attempt->in->doubles[k] + attempt->start + 1;
    memcpy(&before, state, size);
    segment->first = attempt->start + 1;
    segment->left = 0;
    segment->in = in;
    segment->out = none;
    if ((best ? best : workload->run[SYI_ISA_BASE])(&piece) != SY_OK)
        return attempt->start;
    memcpy(state, &end, size);
    return attempt->start + segment->count;
}

/* Whether a result at a column, rounded as well as it could be, is so small beside the values that
 * it is made of that pairs of doubles have to begin farther away to decide it. */
static int is_small(const syi_decision *all, int64_t column)
{
    const syi_repairer *how = all->how;
    const double most = fabs(syi_input(&all->in, how->late, column));
    for (int k = 0; k < how->outputs; k++)
        if (fabs(all->row->out[k][column]) < 0x1p-24 * most)
            return 1;
    return 0;
}

sy_status syi_recurrence_repair(const sy_segment *row, int64_t first, int64_t last, syi_past *past,
                                const syi_repairer *how)
{
    const int says_nothing = first <= how->warmup; /* the value before is NaN in any case */
    const int64_t from = says_nothing ? 0 : first;
    const syi_decision decision = {row, syi_inputs_of(row, past), how, past};
    syi_attempt attempt = {.first = first, .last = first, .back = how->decay / 3, .limbs = 0};
    double peak;
    if (from < past->begin) {
        past->wanted = from;
        return SY_OK;
    }
    if (says_nothing || !past->is_nan)
        attempt.last = look(&decision.in, from, last, how->late, &peak);
    if (first < how->warmup) {
        attempt.first = how->warmup < last ? how->warmup : last;
        fill_nan(row, how->outputs, first, attempt.first);
    }
    fill_nan(row, how->outputs, first > attempt.last ? first : attempt.last, last);
    if (attempt.first < attempt.last && is_small(&decision, attempt.first))
        attempt.back = how->decay / 2;
    if (attempt.first < attempt.last)
        decide(&decision, attempt);
    return SY_OK;
}
