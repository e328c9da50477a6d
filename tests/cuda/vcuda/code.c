/* PTX that has been parsed is kept and shared: a test opens the same image thousands of times, and
 * reading it is most of what that costs. A module with variables of its own has their addresses in
 * it, so it is not shared. Nothing of this can be seen from outside; it outlives vcuda_reset. */
#include "module.h"

#include <string.h>

enum { MOST_KEPT = 8 };

static struct {
    char *text;
    size_t length;
    vptx_module *ptx;
} kept[MOST_KEPT];
static int kept_count;

vptx_module *vci_code_take(const char *text, size_t length)
{
    vptx_module *ptx = NULL;
    for (int i = 0; i < kept_count; i++)
        if (kept[i].length == length && !memcmp(kept[i].text, text, length))
            return kept[i].ptx;
    if (vptx_load(text, length, &ptx, vc.message, sizeof vc.message))
        return NULL;
    if (kept_count == MOST_KEPT || vptx_variable_count(ptx))
        return ptx;
    kept[kept_count].text = vci_alloc(length, 1);
    memcpy(kept[kept_count].text, text, length);
    kept[kept_count].length = length;
    kept[kept_count++].ptx = ptx;
    return ptx;
}

void vci_code_give(vptx_module *ptx)
{
    for (int i = 0; i < kept_count; i++)
        if (kept[i].ptx == ptx)
            return;
    vptx_unload(ptx);
}
