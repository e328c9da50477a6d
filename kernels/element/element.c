#include "element/element.h"

#define DECLARE(isa)                                                                               \
    void syi_widen_##isa(double *to, const float *from, int64_t count);                            \
    void syi_narrow_##isa(float *to, const double *from, int64_t count)

DECLARE(base);
DECLARE(v3);
DECLARE(v4);

const syi_widen_fn syi_widen[SYI_ISA_COUNT] = {SYI_ISA_LIST(syi_widen)};
const syi_narrow_fn syi_narrow[SYI_ISA_COUNT] = {SYI_ISA_LIST(syi_narrow)};
