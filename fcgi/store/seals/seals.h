/* Stored secrets that are sealed with SVC_CREDENTIAL_KEY, when that key changes. */
#ifndef AZ_STORE_SEALS_SEALS_H
#define AZ_STORE_SEALS_SEALS_H

#include "base/op.h"

/* Kinds of secrets that stay for longer than the ten minutes of a sign-in or a link. */
#define SEALS_KINDS 9

/* Numbers of secrets of one kind that were sealed with a key other than the current one. */
struct seals_count {
    const char *kind;
    int resealed;
    int unreadable; /* neither key opens them; they stay as they are */
    int changed;    /* by others since they were read: they have new secrets */
};

/*
 * Seal every stored secret that another key sealed with SVC_CREDENTIAL_KEY. It is opened with
 * SVC_CREDENTIAL_KEY_PREVIOUS. A row is replaced only if it still has the box that was opened, so
 * the service can go on meanwhile, and a run that was interrupted can be repeated.
 */
enum az_status seals_renew(struct op *op, struct seals_count ret[SEALS_KINDS]);

#endif
