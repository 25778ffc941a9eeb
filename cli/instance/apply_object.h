/* Single steps of a plan. */
#ifndef AZ_CLI_INSTANCE_APPLY_OBJECT_H
#define AZ_CLI_INSTANCE_APPLY_OBJECT_H

#include "cli/instance/instance.h"

/* One run of apply. */
struct applying {
    struct instance run;
    json_t *done;    /* steps that were taken: {action, kind, key} */
    json_t *secrets; /* secrets that the service made, by client */
};

/* Take one step. Each returns the exit status after printing why it was refused. */
int apply_create(struct applying *apply, const struct instance_kind *kind, const json_t *step);
int apply_change(struct applying *apply, const struct instance_kind *kind, const json_t *step);
int apply_approve(struct applying *apply, const struct instance_kind *kind, const json_t *step);
int apply_delete(struct applying *apply, const json_t *step);
int apply_forget(struct applying *apply, const json_t *step);

/* Mark the object of a step with its digest and its secrets (or NULL). */
int apply_mark(struct applying *apply, const struct instance_kind *kind, const json_t *step,
               const json_t *object, const char *secret);

/* Add a mark to a list, and send the list, which is empty then. */
int apply_add_mark(struct applying *apply, json_t *marks, const char *kind, const char *key,
                   const json_t *object, const char *secret);
int apply_send_marks(struct applying *apply, json_t *marks);

/* Keep a step as done, and print it. */
void apply_tell(struct applying *apply, const json_t *step);

#endif
