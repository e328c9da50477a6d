/* The control plane of the simulated NCCL. */
#ifndef VNCCL_H
#define VNCCL_H

#ifdef __cplusplus
extern "C" {
#endif

/* After `after` more operations the given rank takes part in none: the others' streams wait until
 * they abort. -1 for no rank. */
void vnccl_hang(int rank, int after);
/* Communicators that were neither destroyed nor aborted. */
int vnccl_live(void);
/* Why something was refused, in words. */
const char *vnccl_message(void);

#ifdef __cplusplus
}
#endif

#endif
