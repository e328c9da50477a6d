#include "block.h"

#include "launch.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { WARP = 32, MOST_THREADS = 256, STACK = 1 << 17 };

typedef enum fiber_state { BEGINS, SHUFFLES, MEETS, ENDED } fiber_state;

/* A context begins a fiber; from then on the jumps, which leave the signals alone, are ten times as
 * fast. */
typedef struct fiber {
    ucontext_t context;
    jmp_buf place;
    fiber_state state;
    unsigned shuffles;
} fiber;

int host_thread, host_block;

static fiber fibers[MOST_THREADS];
static ucontext_t nowhere;
static jmp_buf scheduler;
/* A lane that is ahead writes for its next shuffle while others still read for this one. */
static int words[2][MOST_THREADS];
static host_kernel kernel_now;
static const struct syi_launch *launch_now;

static void pause_as(fiber_state state)
{
    fiber *self = &fibers[host_thread];
    self->state = state;
    if (!_setjmp(self->place))
        _longjmp(scheduler, 1);
}

static void go_on(fiber *f)
{
    if (_setjmp(scheduler))
        return;
    if (f->state == BEGINS)
        swapcontext(&nowhere, &f->context);
    else
        _longjmp(f->place, 1);
}

void host_barrier(void)
{
    pause_as(MEETS);
}

int host_shuffle(int word, int lane)
{
    int *now = words[fibers[host_thread].shuffles++ & 1];
    now[host_thread] = word;
    pause_as(SHUFFLES);
    return now[host_thread / WARP * WARP + lane];
}

int host_any(int truth)
{
    for (int by = WARP / 2; by > 0; by /= 2)
        truth |= host_shuffle(truth, host_thread % WARP ^ by);
    return truth;
}

static void fiber_main(void)
{
    kernel_now(*launch_now);
    pause_as(ENDED);
}

static void begin(int thread, char *stack)
{
    fiber *f = &fibers[thread];
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = NULL;
    f->state = BEGINS;
    f->shuffles = 0;
    makecontext(&f->context, fiber_main, 0);
}

/* Until all lanes meet or have ended; non-zero when they part ways. */
static int run_warp(int first)
{
    do {
        for (host_thread = first; host_thread < first + WARP; host_thread++)
            if (fibers[host_thread].state != ENDED)
                go_on(&fibers[host_thread]);
        for (int i = first + 1; i < first + WARP; i++)
            if (fibers[i].state != fibers[first].state) {
                fprintf(stderr, "block %d: lanes of a warp part ways\n", host_block);
                return 1;
            }
    } while (fibers[first].state == SHUFFLES);
    return 0;
}

static int run_block(int threads, char *stacks)
{
    int ended = 0;
    for (int i = 0; i < threads; i++)
        begin(i, stacks + (size_t)i * STACK);
    while (ended < threads) {
        int meet = 0;
        ended = 0;
        for (int first = 0; first < threads; first += WARP) {
            if (fibers[first].state != ENDED && run_warp(first))
                return 1;
            ended += fibers[first].state == ENDED ? WARP : 0;
            meet += fibers[first].state == MEETS ? WARP : 0;
        }
        if (meet && ended) {
            fprintf(stderr, "block %d: warps part ways at a barrier\n", host_block);
            return 1;
        }
    }
    return 0;
}

int host_launch(host_kernel kernel, const struct syi_launch *launch, int blocks, int threads)
{
    static char *stacks;
    int failed = threads % WARP != 0 || threads > MOST_THREADS;
    if (!stacks)
        stacks = malloc((size_t)MOST_THREADS * STACK);
    if (!stacks || failed) {
        fprintf(stderr, "no block of %d threads can be had\n", threads);
        return 1;
    }
    kernel_now = kernel;
    launch_now = launch;
    for (host_block = 0; host_block < blocks && !failed; host_block++)
        failed = run_block(threads, stacks);
    return failed;
}
