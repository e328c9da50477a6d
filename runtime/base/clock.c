#define _GNU_SOURCE
#include "base/clock.h"

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t syi_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t syi_tick_ns(void)
{
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

int64_t syi_clock_step_ns(void)
{
    enum { TIMES = 16 };
    int64_t step = INT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        int64_t from = syi_now_ns(), to;
        while ((to = syi_now_ns()) <= from)
            ;
        step = to - from < step ? to - from : step;
    }
    return step;
}

void syi_sleep_until_ns(int64_t deadline)
{
    struct timespec until = {(time_t)(deadline / 1000000000), (long)(deadline % 1000000000)};
    /* Linux may wake a thread so much later, 50 us as a rule. */
    int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
    if (slack > 0)
        prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0, 0, 0);
}
