/* The control plane of the simulated NCCL. */
#ifndef VNCCL_H
#define VNCCL_H

#ifdef __cplusplus
extern "C" {
#endif

/* After `after` more operations the given rank takes part in none: the others' streams wait until
 * they abort. -1 for no rank. */
void vnccl_hang(int rank, int after);
/* The given rank, once created, does not meet the others, which wait for it. -1 for no rank. */
void vnccl_stay_away(int rank);
/* After `after` more calls the function of that name says ncclSystemError, for good. It is one of
 * those that ask vni_fails in comm.c and group.c. NULL for no function. */
void vnccl_fail(const char *name, int after);
/* How often a planned failure has struck. */
int vnccl_failures(void);
/* Communicators that were neither destroyed nor aborted. */
int vnccl_live(void);
/* Why something was refused, in words. */
const char *vnccl_message(void);

#ifdef __cplusplus
}
#endif

#endif
