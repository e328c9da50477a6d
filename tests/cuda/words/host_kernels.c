/* All GPU kernels by the host's compiler; compiled twice: as they are, and showing what they round.
 */
#include "host_words.h"

#ifdef REVEAL
#include "reveal.cu"
#define TABLE host_revealing
#else
#include "cuda/all.cu"
#define TABLE host_shipped
#endif

#include "host_kernels.h"

#define KERNEL(name)                                                                               \
    {                                                                                              \
#name, name                                                                                \
    }
const host_entry TABLE[] = {
    KERNEL(syi_gpu_atr),
    KERNEL(syi_gpu_bollinger),
    KERNEL(syi_gpu_bollinger_fast),
    KERNEL(syi_gpu_dot),
    KERNEL(syi_gpu_dot_fast),
    KERNEL(syi_gpu_ema),
    KERNEL(syi_gpu_ema_fast),
    KERNEL(syi_gpu_atr_fast),
    KERNEL(syi_gpu_macd_fast),
    KERNEL(syi_gpu_rsi_fast),
    KERNEL(syi_gpu_macd),
    KERNEL(syi_gpu_max),
    KERNEL(syi_gpu_min),
    KERNEL(syi_gpu_rolling_max),
    KERNEL(syi_gpu_rolling_min),
    KERNEL(syi_gpu_rolling_std),
    KERNEL(syi_gpu_rolling_std_fast),
    KERNEL(syi_gpu_rsi),
    KERNEL(syi_gpu_sma),
    KERNEL(syi_gpu_sma_fast),
    KERNEL(syi_gpu_total),
    KERNEL(syi_gpu_total_fast),
    KERNEL(syi_gpu_variance),
    KERNEL(syi_gpu_variance_fast),
    KERNEL(syi_gpu_zscore),
    KERNEL(syi_gpu_zscore_fast),
    {NULL, NULL},
};
