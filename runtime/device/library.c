/* Tables of functions from libraries that are opened at run time. */
#include "device/library.h"

#include <dlfcn.h>
#include <string.h>

const char *syi_symbols_find(void *library, const syi_symbol *symbols, size_t count, void *table)
{
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found)
            found = dlsym(library, symbols[i].fallback);
        if (!found && symbols[i].need == SYI_SYMBOL_REQUIRED)
            return symbols[i].name;
        memcpy((char *)table + symbols[i].offset, &found, sizeof found);
    }
    return NULL;
}
