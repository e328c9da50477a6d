/* All GPU kernels, showing what they round. */
#include "cuda/device.h"

#include "reveal.h"

#include "cuda/all.cu"
