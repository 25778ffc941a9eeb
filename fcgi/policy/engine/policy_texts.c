#include "config.h"

#include "policy/engine/policy_texts.h"

#include "policy/engine/archive_read.h"
#include "store/policy/plans.h"

/* Octets of an unpacked bundle: ARCHIVE_MAX (policy/save/bundle/archive.h) and what a tar adds. */
#define BODY_MAX ((64 << 20) + (64 << 10))

enum az_status
policy_texts_data(TALLOC_CTX *mem, const unsigned char *body, size_t length, const char **ret,
                  size_t *ret_length)
{
    char *tar;
    size_t octets;
    enum az_status st = archive_unpack(mem, body, length, BODY_MAX, &tar, &octets);
    return st == AZ_OK ? archive_member(tar, octets, "data.json", ret, ret_length) : st;
}

enum az_status
policy_texts_read(struct op *op, const char *revision, struct policy_texts *ret)
{
    struct plan_stored stored;
    char *plan;
    *ret = (struct policy_texts){.plan = NULL};
    enum az_status st = plan_fetch(op, revision, &stored);
    if (st != AZ_OK || stored.plan == NULL || stored.body == NULL)
        return st;
    st = archive_unpack(op->mem, stored.plan, stored.plan_length, POLICY_PLAN_MAX, &plan,
                        &ret->plan_length);
    if (st == AZ_OK)
        st = policy_texts_data(op->mem, stored.body, stored.body_length, &ret->data,
                               &ret->data_length);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the plan or the bundle of revision %s is damaged, or no memory", revision);
    ret->plan = plan;
    ret->note = stored.note;
    return AZ_OK;
}
