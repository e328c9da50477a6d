/*
 * What it takes until a device that works beside others begins: a thread is made for it. Followed
 * from call to call, since it depends on the machine and on what else runs there. Pure.
 */
#ifndef SYI_MODEL_START_H
#define SYI_MODEL_START_H

#include "model/track.h"

/* Before anything is measured. */
syi_track syi_start_assumed(void);

/* A call in which it took so long; 0: no thread was made, perhaps because that seemed too dear, and
 * what is known is a little less believed. */
void syi_start_add(syi_track *start, double ns);

#endif
