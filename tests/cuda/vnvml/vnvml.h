/* The control plane of the simulated NVML: what a test says about the virtual GPUs' state. A test
 * finds these with dlsym in the library that it hands to the context. GPU N is found at the PCI id
 * that the simulated driver gives its GPU N. */
#ifndef VNVML_H
#define VNVML_H

/* Items separated by `;`, those of one GPU by `,`:
 *   gpus=2;driver=580.65.06;*:util=37,temp=64,power=215000,limit=450000;1:clock=2100,memclock=10501
 * further keys: gen, lanes (of the PCIe link), switch (GPUs with the same number but 0 are below
 * one PCIe switch). Starts from nothing planned and 16 idle GPUs. 0, or -1 when it cannot be read.
 * Without it the environment variable VNVML_SETUP counts. */
int vnvml_setup(const char *description);
/* From now on this function returns `error`; 0: as it should. NULL: none fails any more. */
void vnvml_fail(const char *function, int error);
/* Initialisations without a shutdown. */
int vnvml_live(void);

#endif
