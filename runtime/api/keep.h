/* Whether a stored profile is worth more than a new measurement of the same devices. */
#ifndef SYI_API_KEEP_H
#define SYI_API_KEEP_H

#include "multigpu.h"

enum { SYI_KEEP_TEXT = 160 };

/* Compares what is stored with new ratios (of any sum), costs and their fingerprint as they are to
 * be stored. True, with the reason in `why`: the stored ones should stay. `within`: a relative
 * change of every ratio that is not worth a new profile, 0 for none. */
bool syi_keep_stored(const syi_stored_balance *stored, const sy_ratio *ratios, int n,
                     const json_t *costs, const json_t *fingerprint, double within,
                     char why[SYI_KEEP_TEXT]);

/* The largest sample that a stored profile was measured with; 0: not known. */
int64_t syi_stored_sample(const syi_stored_balance *stored);

#endif
