/* The driver contract suite: every assumption about the CUDA driver as a check that runs against
 * any driver library. A check returns NULL, or what it found instead; SKIPPED for what cannot be
 * tried. */
#ifndef CONTRACT_H
#define CONTRACT_H

#include "device/cuda/api.h"

extern syi_cuda_api cu;
extern int gpu_count;
extern const char SKIPPED[];

#define CONTRACT(id, function, gpus, text) const char *function(void);
#include "contract.def"
#undef CONTRACT

/* "CALL: got NAME, expected NAME" */
const char *unexpected(const char *call, CUresult got, CUresult expected);

#define EXPECT(call, expected)                                                                     \
    do {                                                                                           \
        CUresult got_ = (call);                                                                    \
        if (got_ != (expected))                                                                    \
            return unexpected(#call, got_, expected);                                              \
    } while (0)
#define DO(call) EXPECT(call, CUDA_SUCCESS)
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return "not so: " #condition;                                                          \
    } while (0)

/* cuInit, and device `index`'s primary context current. */
CUresult use_device(int index);

/* A stream that waits until the host opens the gate: work behind it is certainly pending. */
typedef struct gate {
    volatile uint32_t *word;
} gate;
CUresult gate_close(gate *g, CUstream stream);
void gate_open(gate *g);

/* The functions of the suite's module: store(to, value, n): to[i] = value + i; wild(): writes to an
 * address that is nobody's. */
extern const char contract_ptx[];
CUresult load_function(const char *name, CUmodule *module, CUfunction *function);
/* A kernel of it runs on the stream, and writes what it should. */
const char *runs_on(CUstream stream);

#endif
