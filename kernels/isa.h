/*
 * One source, several instruction sets. A file <name>_run.c is compiled once for each of them with
 * -DSYI_ISA=base, v3 or v4 (the latter two with -march=x86-64-v3 and -v4, where the build defines
 * SYI_HAVE_V3 and SYI_HAVE_V4; never the latter alone) and exports its function as
 * SYI_ISA_NAME(syi_<name>_run). All other files are compiled once, for the base. The bits do not
 * depend on the choice.
 */
#ifndef SYI_KERNELS_ISA_H
#define SYI_KERNELS_ISA_H

#include "kernel.h"

#define SYI_ISA_PASTE(name, isa)  name##_##isa
#define SYI_ISA_EXPAND(name, isa) SYI_ISA_PASTE(name, isa)

#ifdef SYI_ISA
#define SYI_ISA_NAME(name) SYI_ISA_EXPAND(name, SYI_ISA)
#endif

/* Declares the variants of a function; for a workload's metadata, lists them in order. */
#define SYI_ISA_DECLARE_AS(type, name, parameters)                                                 \
    type name##_base parameters;                                                                   \
    type name##_v3 parameters;                                                                     \
    type name##_v4 parameters
#define SYI_ISA_DECLARE(name) SYI_ISA_DECLARE_AS(sy_status, name, (const syi_piece *piece))

#if defined(SYI_HAVE_V4)
#define SYI_ISA_LIST(name) name##_base, name##_v3, name##_v4
#elif defined(SYI_HAVE_V3)
#define SYI_ISA_LIST(name) name##_base, name##_v3, NULL
#else
#define SYI_ISA_LIST(name) name##_base, NULL, NULL
#endif

#endif
