/* Threads that did not come. Where others keep a processor busy, a thread that has waited for work
 * may get it only milliseconds later: its caller has done all by itself by then, and waits. */
#ifndef SYI_DEVICE_ABSENT_H
#define SYI_DEVICE_ABSENT_H

#include <stdint.h>

/* How many a caller does with, and until when; 0: with as many as it wants. */
typedef struct syi_absent {
    int most;
    int64_t until_ns;
} syi_absent;

/* Does without for so many times as long as it has waited, so waiting takes a twentieth of the
 * time; but no longer than a second, for all of the process may have been stopped meanwhile. */
enum { SYI_ABSENT_FOR = 20, SYI_ABSENT_MOST_NS = 1000000000 };

/* Of `size` threads `absent` had not begun at `done_ns`, when all else was done. */
static inline void syi_absent_note(syi_absent *known, int size, int absent, int64_t done_ns,
                                   int64_t now_ns)
{
    const int64_t most_ns = SYI_ABSENT_MOST_NS / SYI_ABSENT_FOR, waited_ns = now_ns - done_ns;
    known->most = size - absent;
    known->until_ns = now_ns + SYI_ABSENT_FOR * (waited_ns < most_ns ? waited_ns : most_ns);
}

/* Of `wanted` threads those that there are to be. */
static inline int syi_absent_limit(syi_absent *known, int wanted, int64_t now_ns)
{
    if (now_ns >= known->until_ns)
        known->most = 0;
    return known->most > 0 && known->most < wanted ? known->most : wanted;
}

#endif
