/*
 * Writes a multigpu.json with costs for one workload, as if measured on the devices that are here:
 * plans made from it are exact.
 */
#ifndef TESTS_SUPPORT_COST_FILE_H
#define TESTS_SUPPORT_COST_FILE_H

typedef struct cost_row {
    const char
        *device; /* a simulated device's name, or `cpu`, whose costs are then a first guess */
    double fixed_ns, per_element_ns, spread; /* of computing */
    double drift; /* how much of these times earlier runs have added (1: nothing) */
} cost_row;

/* Replaces the file; 0 when that fails. `version`: of the workload, 1 being the present one. */
int cost_file_write(const char *path, const char *workload, int version, const cost_row *rows,
                    int count);

#endif
