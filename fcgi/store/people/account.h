/* Read and end what the account page shows a person (decisions.md "Account page"): sessions,
 * applications with consents and tokens, requests for approval, and delegations. */
#ifndef AZ_STORE_PEOPLE_ACCOUNT_H
#define AZ_STORE_PEOPLE_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "store/people/sessions.h"

/* Entries of each list; a person with more ends some to see the rest. */
#define ACCOUNT_LISTED_MAX 100

/* The kinds of things that can be ended. */
enum account_kind {
    ACCOUNT_SESSION,     /* a sign-in in another browser: its id is a sid */
    ACCOUNT_APPLICATION, /* consents and tokens of an application: its client_id */
    ACCOUNT_APPROVAL,    /* a request that waits, or an approval that is not used yet: a UUID */
    ACCOUNT_DELEGATION,  /* a delegation by this person: a UUID */
    ACCOUNT_KINDS
};

/* Words of the kinds, ending with NULL. */
extern const char *const account_kind_words[];

/* Names of the lists, by kind. */
extern const char *const account_lists[ACCOUNT_KINDS];

/* Read the lists of the signed-in person as an object; the names are those of account_lists. Each
 * entry has an `id`. One trip. */
enum az_status account_read(struct op *op, const struct session *session, json_t **ret);

/* End one thing of this person. *ret_ended false: the person has no such thing, or it had ended
 * before. One trip. */
enum az_status account_end(struct op *op, const struct session *session, enum account_kind kind,
                           const char *id, bool *ret_ended);

#endif
