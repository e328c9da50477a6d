/* A device's costs, and what they were measured on, as JSON. What is damaged or not there counts as
 * not known. */
#ifndef SYI_PROFILES_COSTS_H
#define SYI_PROFILES_COSTS_H

#include "base/error.h"
#include "model/cost.h"
#include "model/drift.h"
#include "model/fingerprint.h"

#include <jansson.h>

enum { SYI_COSTS_FORMAT = 1 };

/* Puts the phases into `entry`, or the fields into `entry`; what else is there stays. */
sy_status syi_cost_store(json_t *entry, const syi_cost *cost);
sy_status syi_fingerprint_store(json_t *entry, const syi_fingerprint *print);

/* By how much the times of the entry have been multiplied since they were measured; 1: not. */
sy_status syi_cost_store_drift(json_t *entry, double drift);
double syi_cost_drift(const json_t *entry);

/* What runs have found of the entry and its times do not contain yet; nothing, and false, when it
 * is damaged. */
sy_status syi_cost_store_pending(json_t *entry, syi_pending pending);
bool syi_cost_pending(const json_t *entry, syi_pending *out);

bool syi_cost_load(const json_t *entry, syi_cost *out);
bool syi_fingerprint_load(const json_t *entry, syi_fingerprint *out);

#endif
