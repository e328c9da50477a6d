/* What is left when the devices are done, shared out to threads. */
#ifndef SYI_EXEC_SHARE_H
#define SYI_EXEC_SHARE_H

#include "device/job.h"

typedef sy_status (*syi_share_fn)(void *argument, int64_t index);

/* Calls `one` for each index below `count`, `at_once` of them one after another, on as many threads
 * as the context's CPU has, or where it has none as there are processors; each is to get
 * `worth_a_thread` of them: fewer are done before another thread has come. Gives the first failure,
 * after which some may be left out. */
sy_status syi_share(const syi_job *job, int64_t count, int64_t at_once, int64_t worth_a_thread,
                    syi_share_fn one, void *argument);

#endif
