/* A driver library as the toolkit's stub is one: every function is there, and every call says
 * CUDA_ERROR_STUB_LIBRARY. test_loader takes names away from copies of it. */
enum { STUB_LIBRARY = 34 };

#define STUB(symbol)                                                                               \
    int symbol(void);                                                                              \
    int symbol(void)                                                                               \
    {                                                                                              \
        return STUB_LIBRARY;                                                                       \
    }

#define SYI_CU(need, name, symbol, fallback, arguments) STUB(symbol)
#include "device/cuda/api.def"
#undef SYI_CU

/* The names that an older driver has in their place. */
STUB(cuDeviceGetUuid)
STUB(cuDevicePrimaryCtxRelease)
STUB(cuEventElapsedTime)
