#include "element/element.h"

SYI_ISA_DECLARE_AS(void, syi_widen, (double *to, const float *from, int64_t count, int64_t ahead));
SYI_ISA_DECLARE_AS(void, syi_narrow, (float *to, const double *from, int64_t count));
SYI_ISA_DECLARE_AS(void, syi_narrow_past, (float *to, const double *from, int64_t count));

const syi_widen_fn syi_widen[SYI_ISA_COUNT] = {SYI_ISA_LIST(syi_widen)};
const syi_narrow_fn syi_narrow[SYI_ISA_COUNT] = {SYI_ISA_LIST(syi_narrow)};
const syi_narrow_fn syi_narrow_past[SYI_ISA_COUNT] = {SYI_ISA_LIST(syi_narrow_past)};
