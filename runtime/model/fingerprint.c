#include "model/fingerprint.h"

#include <stdio.h>
#include <string.h>

#define TEXT(name, trust)                                                                          \
    {                                                                                              \
#name, offsetof(syi_fingerprint, name), sizeof((syi_fingerprint *)0)->name,                \
            SYI_TRUST_##trust                                                                      \
    }
#define NUMBER(name, trust)                                                                        \
    {                                                                                              \
#name, offsetof(syi_fingerprint, name), 0, SYI_TRUST_##trust                               \
    }

/* The uuid tells boards of one model apart, and they are alike enough to begin with; the memory
 * that a driver shows changes with the driver. */
const syi_fingerprint_field syi_fingerprint_fields[SYI_FINGERPRINT_FIELDS] = {
    NUMBER(format, NONE),
    NUMBER(workload_version, NONE),
    TEXT(workload, NONE),
    TEXT(dtype, NONE),
    TEXT(name, NONE),
    NUMBER(compute_major, NONE),
    NUMBER(compute_minor, NONE),
    NUMBER(units, NONE),
    NUMBER(memory_total, GUESS),
    TEXT(code, NONE),
    NUMBER(library_major, NONE),
    NUMBER(library_minor, NONE),
    TEXT(uuid, GUESS),
    NUMBER(library_patch, GUESS),
    TEXT(driver, GUESS),
    NUMBER(power_limit_mw, GUESS),
    NUMBER(clock_mhz, GUESS),
};

/* Written out, "" for not known; a library's version 0 is a version. */
static void value_text(const syi_fingerprint *print, const syi_fingerprint_field *f, char *text,
                       size_t size)
{
    const char *at = (const char *)print + f->offset;
    int64_t number;
    if (f->text_size) {
        snprintf(text, size, "%s", at);
        return;
    }
    memcpy(&number, at, sizeof number);
    if (number == 0 && strncmp(f->name, "library_", 8) != 0 &&
        strcmp(f->name, "compute_minor") != 0)
        *text = '\0';
    else
        snprintf(text, size, "%lld", (long long)number);
}

syi_trust syi_fingerprint_compare(const syi_fingerprint *stored, const syi_fingerprint *now,
                                  char *what, size_t size)
{
    syi_trust trust = SYI_TRUST_FULL;
    if (size)
        *what = '\0';
    for (int i = 0; i < SYI_FINGERPRINT_FIELDS; i++) {
        const syi_fingerprint_field *field = &syi_fingerprint_fields[i];
        char before[64], after[64];
        syi_trust grade = field->trust;
        value_text(stored, field, before, sizeof before);
        value_text(now, field, after, sizeof after);
        if (strcmp(before, after) == 0)
            continue;
        /* Not known on one side is no proof of a difference; but a format always is known. */
        if ((!*before || !*after) && field->offset != offsetof(syi_fingerprint, format))
            grade = SYI_TRUST_GUESS;
        if (grade <= trust)
            continue;
        trust = grade;
        snprintf(what, size, "%s: %s, now %s", field->name, *before ? before : "not known",
                 *after ? after : "not known");
    }
    return trust;
}
