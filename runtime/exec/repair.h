/* Roundings in doubt, decided from the rows with wide arithmetic after the devices are done. */
#ifndef SYI_EXEC_REPAIR_H
#define SYI_EXEC_REPAIR_H

#include "device/job.h"

/* Decides all doubts, which it sorts; `repaired` grows by the columns they cover. */
sy_status syi_repair_doubts(const syi_job *job, syi_doubts *doubts, int64_t *repaired);

/* Decides the reduction of a row. The outputs of the job are in the host's memory. */
sy_status syi_repair_reduction(const syi_job *job, int64_t row);

#endif
