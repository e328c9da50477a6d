/* Tables of functions from libraries that are opened at run time: the CUDA driver, NVML, NCCL. */
#ifndef SYI_DEVICE_LIBRARY_H
#define SYI_DEVICE_LIBRARY_H

#include <stddef.h>

enum { SYI_SYMBOL_OPTIONAL, SYI_SYMBOL_REQUIRED };

typedef struct syi_symbol {
    const char *name, *fallback; /* looked up in this order */
    size_t offset;               /* of the function's pointer in the table */
    int need;
} syi_symbol;

/* Fills the table from an opened library; an OPTIONAL function that is not there is NULL. Gives the
 * name of a REQUIRED one that is not there; NULL: the table is complete. */
const char *syi_symbols_find(void *library, const syi_symbol *symbols, size_t count, void *table);

#endif
