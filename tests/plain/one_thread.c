/* The CPU of a build without OpenMP, for which cpu.c is compiled once more: it has one thread, says
 * so, and refuses more. */
#include <stdio.h>
#include <string.h>

#include "support/lab.h"

static int has_one_thread(const char *devices)
{
    sy_context *context = lab_open(devices, NULL, NULL);
    sy_device_info info = {0};
    int right = context && sy_device_query(context, 0, &info) == SY_OK && info.units == 1;
    if (!right)
        printf("%s has %d threads\n", devices, info.units);
    sy_context_destroy(&context);
    return right;
}

static int refuses_more(void)
{
    sy_config config = {.struct_size = sizeof config, .devices = "cpu:threads=4"};
    sy_context *context = NULL;
    int right = sy_context_create(&config, &context) == SY_ERR_NO_DEVICE &&
                strstr(sy_last_error()->text, "cpu:threads=4: this build has no OpenMP");
    if (!right)
        printf("four threads: '%s'\n", sy_last_error()->text);
    sy_context_destroy(&context);
    return right;
}

int main(void)
{
    int right = has_one_thread("cpu");
    right &= has_one_thread("cpu:threads=1");
    right &= refuses_more();
    return !right;
}
