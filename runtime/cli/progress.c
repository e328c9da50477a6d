/* One line, redrawn in place at most ten times a second. A phase that is over within a second
 * never shows; a pipe or a file on standard error never sees any of it. */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *phase_label, *phase_unit;
static double phase_start, last_drawn;
/* Read by the signal handler and by the library's log, which come from other threads. */
static atomic_int shown;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_progress_begin(const char *label, const char *unit)
{
    cli_progress_erase();
    phase_label = label;
    phase_unit = unit;
    phase_start = last_drawn = now_s();
}

/* "40.1 MB" */
static void amount_text(double amount, char out[48])
{
    static const char *const prefix[] = {"", "k", "M", "G", "T"};
    int scale = 0;
    for (; amount >= 1000 && scale < 4; scale++)
        amount /= 1000;
    snprintf(out, 48, "%.1f %s%.20s", amount, prefix[scale], phase_unit);
}

static void draw(double seconds, uint64_t done, uint64_t total)
{
    double rate = (double)done / seconds;
    double left = done ? (double)(total - done) / rate : 0;
    char line[160], amount[48], speed[48];
    int n;
    amount_text((double)done, amount);
    amount_text(rate, speed);
    if (total)
        n = snprintf(line, sizeof line, "\r%.40s  %3.0f %%  %s/s  eta %.0f s\033[K", phase_label,
                     100.0 * (double)done / (double)total, speed, left);
    else
        n = snprintf(line, sizeof line, "\r%.40s  %s  %s/s\033[K", phase_label, amount, speed);
    atomic_store(&shown, 1);
    if (n > 0 && write(STDERR_FILENO, line, strlen(line)) < 0)
        return; /* a terminal that is gone; the work goes on */
}

void cli_progress_step(uint64_t done, uint64_t total)
{
    double now;
    if (!phase_label || (total ? done > total : !done) || !isatty(STDERR_FILENO))
        return;
    now = now_s();
    if (now - phase_start < 1.0 || now - last_drawn < 0.1)
        return;
    last_drawn = now;
    draw(now - phase_start, done, total);
}

int cli_progress_tiles(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    cli_progress_step(done, total);
    return 0;
}

void cli_progress_erase(void)
{
    if (atomic_exchange(&shown, 0) && write(STDERR_FILENO, "\r\033[K", 4) < 0)
        return;
}
