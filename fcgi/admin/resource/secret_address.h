/* The addresses that a stored secret may be sent to: it goes to those that it was stored for, and a
 * save that changes one of them needs the secret again (security-model.md "Where a secret may go").
 */
#ifndef AZ_ADMIN_RESOURCE_SECRET_ADDRESS_H
#define AZ_ADMIN_RESOURCE_SECRET_ADDRESS_H

#include <jansson.h>
#include <talloc.h>

/* Kinds of objects whose secrets, which an administrator entered, are sent to other servers. */
enum secret_owner {
    SECRET_OF_RESOURCE, /* a managed resource */
    SECRET_OF_PROVIDER, /* an identity provider */
};

/*
 * Compare the addresses of a secret that a save keeps: `was` has those of the stored object, `is`
 * those of the new one. Return NULL if they are the same, else the fault of the secret, a text on
 * mem that fits after its name.
 */
const char *secret_address_fault(TALLOC_CTX *mem, enum secret_owner owner, const char *secret,
                                 const json_t *was, const json_t *is);

#endif
