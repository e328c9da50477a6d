#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool cli_text_room(cli_text *text, size_t more)
{
    size_t size = text->size ? text->size : 4096;
    char *grown;
    if (text->at && more <= text->size - text->used)
        return true;
    while (size - text->used < more) {
        if (size > SIZE_MAX / 2)
            return false;
        size *= 2;
    }
    grown = realloc(text->at, size);
    if (!grown)
        return false;
    text->at = grown;
    text->size = size;
    return true;
}

bool cli_text_add(cli_text *text, const void *data, size_t size)
{
    if (!cli_text_room(text, size))
        return false;
    memcpy(text->at + text->used, data, size);
    text->used += size;
    return true;
}
