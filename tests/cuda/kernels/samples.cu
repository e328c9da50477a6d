// Kernels for the tests of the PTX interpreter: what compilers make of loops, switches, calls, local arrays, shared memory,
// shuffles, votes, atomics, 128-bit and exact floating arithmetic. test_vptx_samples.c computes the same on the host.
#include "device.h"

__device__ int weights[8] = {3, -1, 4, 1, -5, 9, 2, -6};
__constant__ double scale[3] = {0.5, 1.25, -3.0};
__device__ u64 visits;

// One sum per block: shuffles, then shared memory.
extern "C" __global__ void sample_reduce(const int *x, int n, i64 *sums)
{
    __shared__ int partial[32];
    int sum = 0;
    for (int i = CTAID * NTID + TID; i < n; i += NTID * NCTAID)
        sum += x[i];
    for (int by = 16; by > 0; by /= 2)
        sum += SHUFFLE_DOWN(sum, by);
    if (TID % 32 == 0)
        partial[TID / 32] = sum;
    BARRIER();
    if (TID == 0) {
        i64 total = 0;
        for (int i = 0; i < NTID / 32; i++)
            total += partial[i];
        sums[CTAID] = total;
        ATOMIC_ADD_64((i64 *)&visits, 1);
    }
}

// Inclusive scan of each block in dynamic shared memory.
extern "C" __global__ void sample_scan(const double *x, int n, double *y)
{
    extern __shared__ double row[];
    const int i = CTAID * NTID + TID;
    row[TID] = i < n ? x[i] : 0.0;
    BARRIER();
    for (int by = 1; by < NTID; by *= 2) {
        const double left = TID >= by ? row[TID - by] : 0.0;
        BARRIER();
        row[TID] = left + row[TID];
        BARRIER();
    }
    if (i < n)
        y[i] = row[TID];
}

struct pair {
    double high, low;
    int steps;
};

__device__ __noinline__ pair exact_product(double a, double b, int steps)
{
    pair p;
    p.high = a * b;
    p.low = FMA(a, b, -p.high);
    p.steps = steps + 1;
    return p;
}

__device__ __noinline__ double collatz(unsigned n, int *steps)
{
    *steps = 0;
    while (n > 1 && *steps < 100) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        ++*steps;
    }
    return (double)*steps;
}

// Divergent control flow, calls by value and by reference, a switch, a local array.
extern "C" __global__ void sample_flow(const double *x, int n, double *y)
{
    const int i = CTAID * NTID + TID;
    int local[8], steps;
    double r;
    pair p;
    if (i >= n)
        return;
    for (int j = 0; j < 8; j++)
        local[(j + i) & 7] = weights[j] * i;
    r = x[i];
    switch (i % 9) {
    case 0:
        r += 1.0;
        break;
    case 1:
        r *= scale[i % 3];
        break;
    case 2:
        r = SQRT(r * r + 1.0);
        break;
    case 3:
        r /= 3.0;
        break;
    case 4:
        r = r < 0 ? -r : r;
        break;
    case 5:
        r = (double)(int)r;
        break;
    case 6:
        r = (double)(float)r;
        break;
    default:
        r = r - (double)local[(i + 3) & 7];
    }
    p = exact_product(r, x[i], i);
    r = p.high + (p.low + (double)p.steps);
    y[i] = r + collatz((unsigned)i, &steps) + (double)local[steps & 7];
}

// Counts in shared, then in global memory.
extern "C" __global__ void sample_histogram(const unsigned char *x, int n, int *bins, int *most, unsigned *odd)
{
    __shared__ int count[16];
    const int i = CTAID * NTID + TID;
    unsigned votes;
    if (TID < 16)
        count[TID] = 0;
    BARRIER();
    votes = BALLOT(i < n && x[i] % 2);
    if (TID % 32 == 0)
        odd[i / 32] = votes;
    if (i < n)
        ATOMIC_ADD(&count[x[i] & 15], 1);
    BARRIER();
    if (TID < 16) {
        ATOMIC_ADD(&bins[TID], count[TID]);
        ATOMIC_MAX(most, count[TID]);
    }
}

// 64-bit and 128-bit integers, bit tricks, divisions.
extern "C" __global__ void sample_wide(const u64 *x, int n, u64 *y)
{
    const int i = CTAID * NTID + TID;
    if (i < n) {
        const u64 a = x[i], b = x[(i + 1) % n];
        const unsigned __int128 product = (unsigned __int128)a * b + ((unsigned __int128)b << 64);
        u64 r = (u64)(product >> 64) ^ (u64)product;
        r += a / (b | 1) + b % (a | 1) + (u64)((i64)a / ((i64)b | 1));
        r ^= (a << (b & 63)) | (a >> (63 - (b & 63)));
        r += (u64)POPCOUNT((unsigned)a) + (u64)((short)a * (signed char)b);
        y[i] = r * ((unsigned)b / ((unsigned)a | 1)) + r % 10;
    }
}

// Vectors, and a result of NaN for some.
extern "C" __global__ void sample_vector(const double *x, int n, double *y, float *z)
{
    struct __attribute__((aligned(16))) two {
        double a, b;
    };
    const int i = CTAID * NTID + TID;
    if (2 * i + 1 < n) {
        two v = ((const two *)x)[i];
        const double a = v.a;
        v.a = v.a / v.b;
        v.b = SQRT(v.b);
        ((two *)y)[i] = v;
        z[i] = (float)a * 2.0f + (float)(unsigned)i;
    }
}

// Work for the measurement of speed: arithmetic in registers only.
extern "C" __global__ void sample_speed(const double *x, int n, double *y)
{
    const int i = CTAID * NTID + TID;
    double a = x[i % n], b = 1.0;
    for (int j = 0; j < 500; j++) {
        const double t = a * 1.0000001 + 1e-9;
        b = FMA(b, t, 0.25) * 0.5;
        a = t - b;
    }
    y[i % n] = a + b;
}
