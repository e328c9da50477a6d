/*
 * Links that several devices share: how much longer each one's copies take the more the others
 * copy. Pure.
 */
#ifndef SYI_MODEL_CONTENTION_H
#define SYI_MODEL_CONTENTION_H

#include "base/mem.h"
#include "model/lane.h"

typedef struct syi_link_copy {
    int link, device;
    double ns; /* alone on the link */
} syi_link_copy;

/* Of the devices that can be used and have a link number: link by link, within a link in the last
 * used order. */
typedef struct syi_contention {
    syi_link_copy *copies;
    int count;
} syi_contention;

sy_status syi_contention_list(const syi_split_device *devices, const syi_lane *lanes, int count,
                              syi_arena *memory, syi_contention *out);

/* Sets the slow-downs that these shares (tiles, one per device) bring. */
void syi_contention_apply(const syi_contention *contention, syi_lane *lanes,
                          const syi_split_work *work, const int64_t *shares);

#endif
