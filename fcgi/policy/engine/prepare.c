#include "config.h"

#include "policy/engine/prepare.h"

#include <string.h>

#include "policy/engine/engine_embedded.h"
#include "policy/engine/policy_texts.h"
#include "policy/engine/shared_data.h"

/* All on this, and this on az->prepared. */
struct prepared {
    const char *revision;
    const unsigned char *body; /* NULL: it was read */
    size_t length;
    struct shared_tree *tree; /* of this revision, or of the one before while there is a body */
};

void
prepare_keep(struct op *op, const char *revision, const unsigned char *body, size_t length)
{
    struct az *az = op->az;
    if (az->shared_data == NULL || embedded_holds(az, revision)
        || (az->prepared != NULL && strcmp(az->prepared->revision, revision) == 0))
        return;
    struct prepared *made = talloc_zero(az, struct prepared);
    if (made == NULL)
        return;
    made->revision = talloc_strdup(made, revision);
    made->body = talloc_memdup(made, body, length);
    made->length = length;
    if (az->prepared != NULL)
        made->tree = talloc_steal(made, az->prepared->tree);
    talloc_free(az->prepared);
    az->prepared = made->revision != NULL && made->body != NULL ? made : NULL;
    if (az->prepared == NULL)
        talloc_free(made);
}

bool
prepare_waits(const struct az *az)
{
    return az->prepared != NULL && az->prepared->body != NULL;
}

void
prepare_run(struct op *op)
{
    struct prepared *held = op->az->prepared;
    struct shared_tree *before = held->tree;
    const char *data;
    size_t length;
    held->tree = NULL;
    if (policy_texts_data(op->mem, held->body, held->length, &data, &length) == AZ_OK)
        held->tree = shared_data_read(held, op->az->shared_data, held->revision, data, length);
    talloc_free(before);
    talloc_free((void *) (uintptr_t) held->body);
    held->body = NULL;
}
