/* The image lies in the library as it is; SYI_CUDA_IMAGE is its file's path at build time. */
#include "device/cuda/image.h"

#include <stddef.h>

#ifdef SYI_CUDA_IMAGE
/* PTX is text: the zero byte behind it ends it. */
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".local syi_cuda_image_bytes\n"
        "syi_cuda_image_bytes:\n"
        ".incbin \"" SYI_CUDA_IMAGE "\"\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char syi_cuda_image_bytes[];
#endif

static const void *given; /* by a test */

void syi_cuda_image_set(const void *image)
{
    given = image;
}

const void *syi_cuda_image(void)
{
    if (given)
        return given;
#ifdef SYI_CUDA_IMAGE
    return syi_cuda_image_bytes;
#else
    return NULL;
#endif
}
