/*
 * What a profile was measured on, and how far it is to be believed on what is there now. Pure.
 */
#ifndef SYI_MODEL_FINGERPRINT_H
#define SYI_MODEL_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* Empty texts and zeros mean: not known. */
typedef struct syi_fingerprint {
    int64_t format; /* of the stored costs */
    /* the silicon */
    char uuid[48], name[64];
    int64_t compute_major, compute_minor, units, memory_total;
    /* what runs on it */
    char code[16]; /* instruction set or architecture that the kernels were compiled for */
    char workload[64], dtype[8];
    int64_t workload_version;
    int64_t library_major, library_minor, library_patch;
    char driver[32];
    /* how it is set */
    int64_t power_limit_mw, clock_mhz;
} syi_fingerprint;

typedef enum syi_trust {
    SYI_TRUST_FULL,
    SYI_TRUST_GUESS, /* begin with it as a mere guess; the runs will correct it */
    SYI_TRUST_NONE   /* drop it */
} syi_trust;

/* The fields by the names that they are stored under, and what a difference in each means; of
 * differences as grave the first one is named. */
typedef struct syi_fingerprint_field {
    const char *name;
    size_t offset, text_size; /* 0: an int64_t */
    syi_trust trust;
} syi_fingerprint_field;

enum { SYI_FINGERPRINT_FIELDS = 17 };
extern const syi_fingerprint_field syi_fingerprint_fields[SYI_FINGERPRINT_FIELDS];

/* `what` gets the gravest difference in words ("driver: 535.1, now 550.2"); empty: none. */
syi_trust syi_fingerprint_compare(const syi_fingerprint *stored, const syi_fingerprint *now,
                                  char *what, size_t size);

#endif
