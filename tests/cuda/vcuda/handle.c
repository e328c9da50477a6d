/* Handles. They are numbers of a table and not addresses, so that a destroyed, foreign or invented
 * handle is recognised without touching what it may point to. Numbers are not used twice. */
#include "internal.h"

#include <stdlib.h>

#define MARK UINT64_C(0x00c0de0000000000)

static vc_object **table;
static uint64_t table_size;

void vci_handle_make(vc_object *object, enum vc_type type, vc_context *context)
{
    if ((table_size & (table_size - 1)) == 0)
        table = vci_grow(table, table_size ? 2 * table_size : 1, sizeof *table);
    object->type = type;
    object->context = context;
    object->handle = (void *)(uintptr_t)(MARK | (table_size + 1) << 4);
    table[table_size++] = object;
}

static vc_object **slot(const void *handle)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    if ((number & ~UINT64_C(0xffffffffff)) != MARK || number & 15)
        return NULL;
    number = (number & UINT64_C(0xffffffffff)) >> 4;
    return number >= 1 && number <= table_size ? &table[number - 1] : NULL;
}

void *vci_handle_find(enum vc_type type, const void *handle)
{
    vc_object **at = slot(handle);
    return at && *at && (*at)->type == type ? *at : NULL;
}

void vci_handle_drop(vc_object *object)
{
    vc_object **at = slot(object->handle);
    if (at)
        *at = NULL;
}

void *vci_handle_of(enum vc_type type, const vc_context *context)
{
    for (uint64_t i = 0; i < table_size; i++)
        if (table[i] && table[i]->type == type && table[i]->context == context)
            return table[i];
    return NULL;
}

void vci_handles_clear(void)
{
    free(table);
    table = NULL;
    table_size = 0;
}
