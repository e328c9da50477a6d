/* The control plane of the simulated CUDA driver: what a test may say to it beside the driver's own
 * functions. The library under test never sees these; a test finds them with dlsym in the same
 * shared object, or links against it.
 *
 * Time is virtual, in nanoseconds, and exact: an operation starts at the largest of the end of its
 * stream's last operation, the submitting thread's clock, the events it waits for and the moment
 * its engine is free, and ends a modelled duration later. Each host thread has its own clock, which
 * moves a little with every call and joins the device's at every wait. */
#ifndef VCUDA_H
#define VCUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happened on one device, or on all of them. live_* must be zero at the end of a clean
 * program; leaked_* counts what was still there when a context was destroyed under it. */
typedef struct vcuda_counts {
    uint64_t calls, launches, lane_instructions;
    uint64_t bytes_in, bytes_out, bytes_peer, bytes_device;
    int64_t live_allocations, live_bytes, live_host, live_contexts, live_streams, live_events,
        live_modules;
    uint64_t leaked_allocations, leaked_streams, leaked_events, leaked_modules;
    uint64_t peak_bytes;
    int64_t pinned_bytes; /* allocated on the host; of what contexts have now */
    uint64_t peak_pinned;
    uint64_t peers;      /* that it was allowed to reach */
    uint64_t faults;     /* injected faults that fired */
    uint64_t lasting;    /* of them, those that keep a program from giving things back: the device
                            failed, every call of a kind is refused, no context was made current */
    uint64_t hang_waits; /* blocking waits that ran into an operation that never ends */
    uint64_t diagnoses;  /* kernels, copies and threads that did what hardware might let pass */
} vcuda_counts;

/* Describes the machine, before cuInit: items separated by `;`, those of one GPU by `,`:
 *   gpus=3;driver=13000;*:speed=4;0:name=Big,memory=32GiB,sms=170,cc=12.0,link=50GB/s
 * Keys of a GPU (`N:` or `*:` for all): name, memory, speed (lane instructions per ns and
 * multiprocessor), sms, cc, link, bandwidth (copies inside the device), latency (of each launch and
 * copy), peer (0: no peer access), managed (0: no concurrent managed access). `stall=MS` (5000): a
 * wait with nothing left to run fails as a deadlock when no thread has made a call for that long;
 * the only real time here. 0, or -1 with the reason in vcuda_message. Without it cuInit reads the
 * environment variable VCUDA_SETUP, and without that there is one default GPU. */
int vcuda_setup(const char *description);

/* Plans a fault: `device=1,call=cuMemAlloc,after=3,error=CUDA_ERROR_OUT_OF_MEMORY,sticky`.
 *   device=N|any   call=NAME|any   after=K   the K+1st matching call is hit (0)
 *   times=N        how many calls are hit from then on (1; 0: all)
 *   error=NAME|N   what the call returns      sticky   the device fails with it from then on
 *   async          the call succeeds and the operation that it submits fails with `error`, sticky
 *   hang[=TIME]    the operation never ends; a blocking wait fails with CUDA_ERROR_LAUNCH_TIMEOUT
 *                  after that much virtual time (60s), or, with hang=0, blocks until vcuda_release
 *   slow=F         everything on the device takes F times longer from then on
 *   lost           the device is gone: every call says CUDA_ERROR_DEVICE_UNAVAILABLE
 * VCUDA_FAULT in the environment holds the same, separated by `;`, and is read by cuInit. */
int vcuda_fault(const char *description);
/* Lets hung operations end. */
void vcuda_release(void);

/* Forgets the planned faults, lets hung operations end, and runs whatever is under way: what uses
 * memory that was given back too early shows. */
void vcuda_finish(void);

/* In which order work that may run does run: "time" (the event simulation), "lifo" and "random"
 * (only when something waits for it, newest first or by the seed: catches missing waits), "threads"
 * (each stream is a thread). Call it before cuInit; VCUDA_ORDER=MODE[:SEED] in the environment. */
int vcuda_order(const char *mode, uint64_t seed);

/* The calling thread's clock. */
int64_t vcuda_virtual_now(void);

/* Counts of device N, or summed over all for -1. */
void vcuda_counters(int device, vcuda_counts *out);
/* How often a function (by the name without suffix) was called; all of them for NULL. */
uint64_t vcuda_calls(const char *name);
/* The last diagnosis in words; empty when there was none. */
const char *vcuda_message(void);
/* Forgets everything: as if the library had just been loaded. No other thread may be in it. */
void vcuda_reset(void);

#ifdef __cplusplus
}
#endif

#endif
