/*
 * What a work costs where its arrays lie. Costs are measured with arrays in the host's memory; one
 * that lives on a GPU spares its owner a copy, and costs whoever is not its owner the way there.
 */
#ifndef SYI_PLAN_RESIDENCE_H
#define SYI_PLAN_RESIDENCE_H

#include "device/registry.h"
#include "model/cost.h"

/* Turns `costs`, one per device, of arrays in the host's memory into those of the job's arrays. An
 * array's way to or from its owner is taken to cost what the owner's copies in cost, evenly for
 * each of its inputs; a device that is neither owner nor host gets it over its own link, straight
 * from the owner. */
void syi_residence_apply(const syi_devices *devices, const syi_job *job, syi_cost *costs);

#endif
