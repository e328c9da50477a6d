/* All GPU kernels as one translation unit, which makes one module. */
#include "bollinger/bollinger.cu"
#include "ema/ema.cu"
#include "macd/macd.cu"
#include "rolling_std/rolling_std.cu"
#include "sma/sma.cu"
#include "sum/sum.cu"
#include "variance/variance.cu"
