/* Finds the PTX in what cuModuleLoadData is given: PTX text, a fatbin, or the wrapper of one. */
#include "internal.h"

#include <string.h>

#define FATBIN_MAGIC  0xba55ed50u
#define WRAPPER_MAGIC 0x466243b1u

enum { ENTRY_PTX = 1, COMPRESSED = 0xa000 };

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version, size;
    uint64_t entries_size;
} fatbin_header;

typedef struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t compressed_size, options;
    uint16_t minor, major;
    uint32_t arch; /* 75 for 7.5 */
    uint64_t unused;
    uint64_t flags;
} fatbin_entry;

_Static_assert(sizeof(fatbin_header) == 16 && sizeof(fatbin_entry) == 48, "as in the file");

/* The PTX for the highest architecture that the GPU has. */
static const char *best_ptx(const unsigned char *fatbin, const vc_gpu *gpu, size_t *length,
                            CUresult *why)
{
    fatbin_header header;
    memcpy(&header, fatbin, sizeof header);
    const unsigned char *at = fatbin + header.size, *end = at + header.entries_size;
    const char *best = NULL;
    uint32_t best_arch = 0;
    *why = CUDA_ERROR_NO_BINARY_FOR_GPU;
    while ((size_t)(end - at) >= sizeof(fatbin_entry)) {
        fatbin_entry entry;
        memcpy(&entry, at, sizeof entry);
        uint64_t left = (uint64_t)(end - at);
        if (entry.header_size < sizeof entry || entry.header_size > left ||
            entry.size > left - entry.header_size) {
            *why = CUDA_ERROR_INVALID_IMAGE;
            return NULL;
        }
        bool fits =
            entry.kind == ENTRY_PTX && entry.arch <= (uint32_t)(10 * gpu->major + gpu->minor);
        if (fits && entry.flags & COMPRESSED) {
            vci_say("fatbin: the PTX is compressed; build it with --no-compress");
        } else if (fits && (!best || entry.arch > best_arch)) {
            best = (const char *)at + entry.header_size;
            best_arch = entry.arch;
            *length = strnlen(best, entry.size);
        }
        at += entry.header_size + entry.size;
    }
    return best;
}

const char *vci_image_ptx(const void *image, const vc_gpu *gpu, size_t *length, CUresult *why)
{
    uint32_t magic;
    if (*(const char *)image == 0x7f) { /* machine code, which nobody here executes */
        *why = CUDA_ERROR_NO_BINARY_FOR_GPU;
        return NULL;
    }
    memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC) {
        memcpy(&image, (const char *)image + 8, sizeof image);
        memcpy(&magic, image, sizeof magic);
    }
    if (magic == FATBIN_MAGIC)
        return best_ptx(image, gpu, length, why);
    *length = strlen(image);
    return image;
}
