/*
 * The GPU form of the workload of own_gpu_workload.c: a block computes a tile, its threads take the
 * tile's columns in turn. Nothing is added up in an order that the hardware chooses, so the bits
 * are those of the CPU form. Compile it with
 *
 *     nvcc -ptx --fmad=false $(pkg-config --cflags steelyard) own_gpu_workload.cu
 */
#include <steelyard/gpu.h>

extern "C" __global__ void highest(const sy_gpu_slab slab)
{
    int64_t tile = blockIdx.x, row = tile / slab.tiles_per_row;
    int64_t at = tile % slab.tiles_per_row * slab.tile_columns;
    int64_t end = at + slab.tile_columns < slab.columns ? at + slab.tile_columns : slab.columns;
    int64_t period = (int64_t)slab.params[0];
    const double *x = slab.in[0] + row * slab.in_stride + slab.left;
    double *y = slab.out[0] + row * slab.columns;
    for (int64_t i = at + threadIdx.x; i < end; i += blockDim.x) {
        int64_t from = i - (period - 1) < -slab.left ? -slab.left : i - (period - 1);
        double best = x[from];
        for (int64_t j = from + 1; j <= i; j++)
            best = x[j] > best ? x[j] : best;
        y[i] = best;
    }
}
