/* What modules and functions are made of; launches read it. */
#ifndef VCUDA_MODULE_H
#define VCUDA_MODULE_H

#include "internal.h"

typedef struct vc_module vc_module;

typedef struct vc_function {
    vc_object object;
    vc_module *module;
    const vptx_kernel *kernel;
    vptx_kernel_info info;
    int dynamic_limit; /* set by cuFuncSetAttribute; 0: what fits the default */
    struct vc_function *next;
} vc_function;

struct vc_module {
    vc_object object;
    vptx_module *ptx;
    vc_function *functions;
    vc_region **variables;
    size_t variable_count;
};

/* code.c: PTX as the interpreter has it; NULL, with the reason in vc.message, when it cannot be
 * read. Not to be changed: others may be using it. */
vptx_module *vci_code_take(const char *text, size_t length);
void vci_code_give(vptx_module *ptx);

#endif
