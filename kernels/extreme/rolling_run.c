/*
 * The rolling extremes' loops. Nothing is rounded, so any order gives the same bits. Windows of up
 * to 2,048 columns are made of stretches (extreme/stretches.h); with AVX-512 those of 8 to 31 take
 * one pass (extreme/rolling_flow.h). A longer one is cut in two at a block's border; the part
 * before it waits in the output. This file is compiled for several instruction sets.
 */
#include "extreme/rolling.h"
#include "extreme/rolling_flow.h"
#include "extreme/stretches.h"

/* Columns of a block, and of one pass: what begins one waits for what goes past the cache. */
enum { BLOCK = 512, FLOW_COLUMNS = 8192 };

/* Windows that end at x[0 .. count). All columns that they hold are there, and `known` from x[0]
 * on. */
typedef struct range {
    const double *x;
    double *out;
    int64_t count, known, period;
    int past, far; /* syi_asks_far */
} range;

/* How many of the `left` columns that begin at `out` come next: those before a line, then whole
 * lines, `most` of them, then the rest. */
static int64_t columns_at_once(const double *out, int64_t left, int64_t most)
{
    const int64_t before = syi_line_after(out, 0, left), lines = left / SYI_LINE * SYI_LINE;
    if (before > 0 || lines == 0)
        return before > 0 ? before : left;
    return lines < most ? lines : most;
}

enum { LENGTHS = 4, PAGE = 512 };

/*
 * The way from block to block. Of each length that windows need there are the stretches that end in
 * the block in hand, from at[k] on, behind those that it reaches back to; of the shortest there are
 * the next block's, too.
 */
typedef struct way {
    double room[2 * 3 * 8 + 3 * (32 + 128 + 512) + (LENGTHS + 1) * (BLOCK + SYI_WIDTH) + 2 * PAGE];
    double *at[LENGTHS], *next;
    int64_t length[LENGTHS], behind[LENGTHS];
    int longest; /* the last length that is needed */
} way;

/* Room for a block. Nothing is known of what is behind: no window that is wanted reaches farther.
 */
static double *way_take(double **room, int64_t behind)
{
    double *at = *room + behind;
    memset(*room, 0, (size_t)behind * sizeof *at);
    *room = at + BLOCK + SYI_WIDTH;
    return at;
}

/* The same for short stretches, so many columns behind the results' place of a page. */
static double *way_take_short(double **room, int64_t behind, const double *out, int columns)
{
    const uintptr_t place = (uintptr_t)out + (uintptr_t)columns * sizeof *out;
    *room += (place - (uintptr_t)(*room + behind)) / sizeof *out % PAGE;
    return way_take(room, behind);
}

/* What is read of the short stretches, or of the columns where these lie at the same place of a
 * page as the results, lies at none where results or stretches are still to be written (traffic.h):
 * of those of the last 128 columns. */
static void way_begin(way *w, int64_t period, const double *out)
{
    double *room = w->room;
    int64_t length = SHORT_MOST;
    while (length > period)
        length /= 2;
    for (w->longest = 0; 4 * length < period; length *= 4)
        w->length[w->longest++] = length;
    w->length[w->longest] = length;
    for (int k = 0; k <= w->longest; k++) {
        w->behind[k] = k < w->longest ? 3 * w->length[k] : period - length;
        w->at[k] =
            k == 0 ? way_take_short(&room, w->behind[0], out, 144) : way_take(&room, w->behind[k]);
    }
    w->next = way_take_short(&room, w->behind[0], out, 320);
}

/* What the windows of the block's n columns are made of, which is made of the short stretches. */
SYI_INLINE joint way_joint(way *w, int64_t n, int64_t period, int greatest)
{
    const int64_t *length = w->length;
    const int k = w->longest;
    for (int i = 0; i < k; i++)
        join_rest((joint){w->at[i], length[i], 3 * length[i]}, 0, n, 4, greatest, w->at[i + 1]);
    return (joint){w->at[k], length[k], period - length[k]};
}

/* On to the next block, n columns on. */
static void way_on(way *w, int64_t n)
{
    double *at = w->at[0];
    memcpy(w->next - w->behind[0], at + n - w->behind[0], (size_t)w->behind[0] * sizeof *at);
    w->at[0] = w->next;
    w->next = at;
    for (int k = 1; k <= w->longest; k++)
        memmove(w->at[k] - w->behind[k], w->at[k] + n - w->behind[k],
                (size_t)w->behind[k] * sizeof *at);
}

/* The block that begins with column `at`; those before 0 are of no window that is wanted. */
SYI_INLINE columns block_at(const range *r, int64_t at)
{
    const int64_t most = BLOCK, left = r->count - at;
    const int64_t n = at >= 0 ? columns_at_once(r->out + at, left, most) : -at < most ? -at : most;
    return (columns){r->x + at, n, r->period - 1 + at, syi_ahead(r->known, at + n, SYI_AHEAD)};
}

SYI_INLINE int make_all(columns of, int length, int greatest, double *to)
{
    making m = making_at(of, length, greatest);
    return make_rest(&m, of, 0, length, greatest, to);
}

/* The same where something is not finite: it is taken for more extreme than all. */
static void make_strange(columns of, int length, int greatest, double *to)
{
    double room[SHORT_MOST + BLOCK], *x = room + SHORT_MOST;
    for (int64_t i = 1 - length; i < of.count; i++)
        x[i] = syi_is_finite(of.x[i]) ? of.x[i] : greatest ? INFINITY : -INFINITY;
    make_all((columns){x, of.count, length - 1, 0}, length, greatest, to);
}

SYI_INLINE void roll_short(const range *r, int greatest)
{
    way w;
    way_begin(&w, r->period, r->out);
    const int length = (int)w.length[0];
    int64_t at = length - r->period;
    int64_t strange_until = at; /* windows before may hold what is not finite */
    columns block = block_at(r, at), next;
    int strange = make_all(block, length, greatest, w.at[0]);
    for (; block.count > 0; block = next) {
        if (strange) {
            make_strange(block, length, greatest, w.at[0]);
            strange_until = at + block.count + r->period - 1;
        }
        const joint windows = way_joint(&w, block.count, r->period, greatest);
        next = block_at(r, at + block.count);
        if (at >= 0 && at >= strange_until) {
            strange = put_windows(windows, block.count, length, r->past, greatest, r->out + at,
                                  next, w.next);
        } else {
            strange = make_all(next, length, greatest, w.next);
            if (at >= 0) {
                join_rest(windows, 0, block.count, joint_count(windows), greatest, r->out + at);
                syi_fast_mark(r->out + at, block.count);
            }
        }
        way_on(&w, block.count);
        at += block.count;
    }
}

/* By one pass as far as all is finite. */
SYI_INLINE void roll_flow(const range *r, int greatest)
{
    for (int64_t at = 0, n; at < r->count; at += n) {
        int64_t done = 0;
        n = columns_at_once(r->out + at, r->count - at, FLOW_COLUMNS);
        if (n >= SYI_LINE)
            done = flow_all(r->x + at, syi_distance_of(r->far, r->known, at + n), r->out + at, n,
                            r->period, r->past, greatest);
        n = n - done < 2 * BLOCK ? n : done + 2 * BLOCK;
        if (done < n) {
            range rest = *r;
            rest.x += at + done;
            rest.out += at + done;
            rest.known -= at + done;
            rest.count = n - done;
            roll_short(&rest, greatest);
        }
    }
}

/* What is compared: the value, negated for greatest ones; less than any for what is not finite. */
SYI_INLINE double key_of(double x, int greatest)
{
    return !syi_is_finite(x) ? -INFINITY : greatest ? -x : x;
}

SYI_INLINE double value_of(double key, int greatest)
{
    double value = greatest ? -key : key;
    return syi_is_finite(key) ? value + 0.0 : syi_nan(); /* a zero is +0 */
}

SYI_INLINE double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* The windows that end at x[0 .. n), for n <= period. */
SYI_INLINE void roll_long(const double *x, double *restrict out, int64_t n, int64_t period,
                          int greatest)
{
    double least = INFINITY;
    for (int64_t i = -1; i >= n - period; i--)
        least = lesser(key_of(x[i], greatest), least);
    for (int64_t i = n - 1; i >= 0; i--) {
        out[i] = least;
        if (i > 0)
            least = lesser(key_of(x[i - period], greatest), least);
    }
    least = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        least = lesser(key_of(x[i], greatest), least);
        out[i] = value_of(lesser(out[i], least), greatest);
    }
}

SYI_INLINE void roll(const range *r, int greatest)
{
    if (r->period > WINDOW_MOST)
        for (int64_t at = 0, n; at < r->count; at += n) {
            n = r->count - at < r->period ? r->count - at : r->period;
            roll_long(r->x + at, r->out + at, n, r->period, greatest);
        }
    else if (flows(r->period))
        roll_flow(r, greatest);
    else
        roll_short(r, greatest);
}

sy_status SYI_ISA_NAME(syi_extreme_roll)(const syi_piece *piece, int greatest)
{
    const sy_segment *segment = &piece->segment;
    int64_t first = (int64_t)segment->params[0] - 1 - segment->first;
    first = first < 0 ? 0 : first > segment->count ? segment->count : first;
    for (int64_t i = 0; i < first; i++)
        segment->out[0][i] = syi_nan();
    if (first == segment->count)
        return SY_OK;
    const range r = {segment->in[0] + first,   segment->out[0] + first,     segment->count - first,
                     syi_known(piece) - first, (int64_t)segment->params[0], piece->past_cache,
                     syi_asks_far(piece, 2)};
    if (greatest)
        roll(&r, 1);
    else
        roll(&r, 0);
    return SY_OK;
}
