/* How multigpu.json is laid out; shared by its reader and its writer. The top level repeats the
 * last written entry, because existing tools read it, and their writers know of nothing else. Since
 * we always write the two together, a top level that differs from its tag's entry comes from such a
 * writer, after us. */
#ifndef SYI_PROFILES_MULTIGPU_LAYOUT_H
#define SYI_PROFILES_MULTIGPU_LAYOUT_H

#include "multigpu.h"

/* A text field, "" when it is not there. */
const char *syi_multigpu_text(const json_t *object, const char *key);
bool syi_multigpu_holds_ratios(const json_t *object);
bool syi_multigpu_top_level_is(const json_t *root, const char *tag);
/* The object that holds the ratios of a tag: its entry, the root, or NULL. */
json_t *syi_multigpu_object(json_t *root, const char *tag);

/* Whether a tag fits into a sy_balance. */
bool syi_multigpu_tag_fits(const char *tag);

/* How to bring ratios to sum 1: what to divide by, one after the other. */
typedef struct syi_scale {
    double unit, sum;
} syi_scale;

syi_scale syi_multigpu_scale(json_t *ratios);
double syi_multigpu_scaled(syi_scale scale, const json_t *ratio);

sy_status syi_multigpu_no_tag(const syi_store *store, const char *tag);

#endif
