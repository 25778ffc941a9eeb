/* Plan and data of a revision as texts, which the machine in this process decides by. */
#ifndef AZ_POLICY_ENGINE_POLICY_TEXTS_H
#define AZ_POLICY_ENGINE_POLICY_TEXTS_H

#include "base/op.h"

/* Octets of a plan. The shipped policy has 0.8 MB; a plan is some ten times as long as its rules,
 * and those are at most a bundle (ARCHIVE_MAX). */
#define POLICY_PLAN_MAX (64 << 20)

/* On op->mem. */
struct policy_texts {
    const char *plan; /* plan.json, NUL-terminated, or NULL if the revision has none */
    size_t plan_length;
    const char *data; /* data.json of the bundle; not NUL-terminated */
    size_t data_length;
    const char *note; /* why there is no plan, or what OPA still decides; NULL: nothing */
};

/* Unpack the archive of a bundle and find data.json in it, which is on mem and not NUL-terminated.
 * Not AZ_OK: it is damaged, or there is no memory. */
enum az_status policy_texts_data(TALLOC_CTX *mem, const unsigned char *body, size_t length,
                                 const char **ret, size_t *ret_length);

/* Read the texts of a revision that was published, in one trip. AZ_OK with no plan: there is none
 * (yet), or the bundle is not kept any more. AZ_SERVER_ERROR: what is stored is damaged. */
enum az_status policy_texts_read(struct op *op, const char *revision, struct policy_texts *ret);

#endif
