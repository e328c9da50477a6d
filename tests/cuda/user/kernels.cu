/* GPU forms of the workloads of test_user.c, in plain CUDA C. Each tells by its bits whether a tile
 * was what it should be: any other halo, order or place shows. */
#include <steelyard/gpu.h>

typedef struct place {
    int64_t row, at, count; /* of the tile in the slab */
    const double *x, *y;    /* at the tile's first column */
} place;

static __device__ place place_of(const sy_gpu_slab &slab)
{
    int64_t tile = blockIdx.x;
    place p = {tile / slab.tiles_per_row, tile % slab.tiles_per_row * slab.tile_columns, 0, 0, 0};
    int64_t left = slab.columns - p.at;
    p.count = left < slab.tile_columns ? left : slab.tile_columns;
    p.x = slab.in[0] + p.row * slab.in_stride + slab.left + p.at;
    p.y = slab.in[1] + p.row * slab.in_stride + slab.left + p.at;
    return p;
}

extern "C" __global__ void user_map(const sy_gpu_slab slab)
{
    place p = place_of(slab);
    double *first = slab.out[0] + p.row * slab.columns + p.at;
    double *second = slab.out[1] + p.row * slab.columns + p.at;
    for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x) {
        first[i] = slab.params[0] * p.y[i] + p.x[i];
        second[i] = p.y[i] * (double)(slab.row + p.row) + (double)(slab.first + p.at + i);
    }
}

/* Every third value of the window, weighed down from the left. */
extern "C" __global__ void user_window(const sy_gpu_slab slab)
{
    place p = place_of(slab);
    double *out = slab.out[0] + p.row * slab.columns + p.at;
    int64_t halo = (int64_t)slab.params[0],
            left = slab.left + p.at < halo ? slab.left + p.at : halo;
    for (int64_t i = threadIdx.x; i < p.count; i += blockDim.x) {
        double sum = 0;
        for (int64_t j = i - halo < -left ? -left : i - halo; j <= i; j += 3)
            sum = sum * 0.999 + p.x[j];
        out[i] = sum;
    }
}

/* A tile's partial: 64 lanes of sums, folded in a fixed tree; the tile's length; its first value.
 */
extern "C" __global__ void user_reduce(const sy_gpu_slab slab)
{
    extern __shared__ double lanes[]; /* as many as the workload asks for: 64 */
    place p = place_of(slab);
    double *partial = (double *)slab.partials + 3 * (int64_t)blockIdx.x;
    int lane = threadIdx.x;
    double sum = 0;
    for (int64_t i = lane; i < p.count; i += 64)
        sum = sum * 0.5 + p.x[i];
    lanes[lane] = sum;
    for (int by = 32; by > 0; by /= 2) {
        __syncthreads();
        if (lane < by)
            lanes[lane] += lanes[lane + by];
    }
    if (lane == 0) {
        partial[0] += lanes[0]; /* it was zeroed */
        partial[1] += (double)p.count;
        partial[2] += p.x[0] * 3.0;
    }
}

extern "C" __global__ void user_wild(const sy_gpu_slab slab)
{
    slab.out[0][(int64_t)1 << 40] = 1.0;
}

/* These take what no launch gives. */
extern "C" __global__ void user_two(const sy_gpu_slab slab, const double *more, int64_t count)
{
    if (threadIdx.x < count)
        slab.out[0][threadIdx.x] = more[threadIdx.x];
}

extern "C" __global__ void user_number(int64_t number)
{
    (void)number;
}
