#include "base/error.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>

static _Thread_local sy_error last_error = {SY_OK, -1, 0, ""};

static sy_status record(sy_status status, int device, int native_code, const char *format,
                        va_list args)
{
    last_error.status = status;
    last_error.device = device;
    last_error.native_code = native_code;
    syi_format_list(last_error.text, sizeof last_error.text, format, args);
    syi_make_one_line(last_error.text);
    return status;
}

sy_status syi_fail(sy_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(status, -1, 0, format, args);
    va_end(args);
    return status;
}

sy_status syi_fail_device(sy_status status, int device, int native_code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(status, device, native_code, format, args);
    va_end(args);
    return status;
}

sy_status syi_no_memory(uint64_t bytes)
{
    return syi_fail(SY_ERR_MEMORY,
                    "cannot get %" PRIu64 " bytes of memory; free some, or give less at a time",
                    bytes);
}

void syi_error_adopt(const sy_error *error)
{
    last_error = *error;
}

const sy_error *sy_last_error(void)
{
    return &last_error;
}

const char *sy_status_string(sy_status status)
{
    static const char *const words[] = {
        [SY_OK] = "success",
        [SY_ERR_ARGUMENT] = "wrong argument",
        [SY_ERR_NOT_FOUND] = "not found",
        [SY_ERR_NO_DEVICE] = "no such device",
        [SY_ERR_MEMORY] = "out of memory",
        [SY_ERR_DEVICE] = "device failure",
        [SY_ERR_IO] = "input/output error",
        [SY_ERR_CANCELLED] = "cancelled",
        [SY_ERR_USER] = "failure in the user's workload",
        [SY_ERR_UNSUPPORTED] = "not supported",
        [SY_ERR_INTERNAL] = "internal error",
    };
    if ((int)status < 0 || (size_t)status >= sizeof words / sizeof words[0])
        return "unknown status";
    return words[status];
}
