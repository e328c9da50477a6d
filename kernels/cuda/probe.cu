/* What a compiler for GPUs has to be able to compile (meson.build). */
extern "C" __global__ void probe(double *x)
{
    x[blockIdx.x] += 1.0;
}
