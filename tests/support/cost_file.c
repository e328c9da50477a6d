#include "support/cost_file.h"

#include <stdio.h>
#include <string.h>

#include "kernel.h"

static void write_prints(FILE *file, const char *workload, int version, const cost_row *rows,
                         int count)
{
    for (int i = 0; i < count; i++) {
        fprintf(file, "%s\"%s\": {\"format\": 1, \"workload\": \"%s\", \"dtype\": \"f64\", ",
                i ? ", " : "", rows[i].device, workload);
        if (strcmp(rows[i].device, "cpu") != 0)
            fprintf(file, "\"name\": \"%s\", ", rows[i].device);
        fprintf(file, "\"code\": \"%s\", \"workload_version\": %d, ",
                syi_isa_name(syi_isa_detect()), version);
        fprintf(file, "\"library_major\": %d, \"library_minor\": %d, \"library_patch\": %d}",
                SY_VERSION_MAJOR, SY_VERSION_MINOR, SY_VERSION_PATCH);
    }
}

int cost_file_write(const char *path, const char *workload, int version, const cost_row *rows,
                    int count)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return 0;
    fprintf(file, "{\"format\": 1, \"profiles\": {\"%s\": {\"ratios\": {", workload);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s\"%s\": %.17g", i ? ", " : "", rows[i].device, 1 / rows[i].per_element_ns);
    fprintf(file, "}, \"fingerprint\": {\"devices\": {");
    write_prints(file, workload, version, rows, count);
    fprintf(file, "}}, \"costs\": {");
    for (int i = 0; i < count; i++)
        fprintf(file,
                "%s\"%s\": {\"drift\": %.17g, \"phases\": {\"compute\": {\"fixed_ns\": %.0f, "
                "\"per_element_ns\": "
                "[%.17g], \"until_elements\": [], \"spread\": %.17g}}}",
                i ? ", " : "", rows[i].device, rows[i].drift, rows[i].fixed_ns,
                rows[i].per_element_ns, rows[i].spread);
    fprintf(file, "}}}}\n");
    return fclose(file) == 0;
}
