/* The act claim of an exchanged token (RFC 8693 4.1). Pure: no HTTP, no database. */
#ifndef AZ_OAUTH_EXCHANGE_ACTING_H
#define AZ_OAUTH_EXCHANGE_ACTING_H

#include <jansson.h>
#include <talloc.h>

/* Most actors of a chain, the newest one included; the row svc.operator.controls.exchange can only
 * lower it. It bounds the row of a token, and what a resource server has to read. */
#define ACTING_DEPTH_MAX 8

enum acting_fault {
    ACTING_GOOD,
    ACTING_MALFORMED, /* the chain of the subject token is not one of objects with a `sub` */
    ACTING_DEEP,      /* the chain would have more than ACTING_DEPTH_MAX actors */
    ACTING_FORGED,    /* the token of another issuer names this service as the issuer of an actor */
    ACTING_OURS,      /* no memory */
};

/*
 * Make the act claim for a client that acts with a subject token whose act claim is `previous`
 * (NULL: it has no such claim). *ret belongs to mem. Of the previous actors `sub` and `iss` are
 * kept. `issuer` (NULL: this service) is the issuer of the subject token; it becomes the `iss` of
 * each previous actor that has none, and none may state `us`, the issuer identifier of this
 * service, or else a foreign issuer could name one of our clients as an actor.
 */
enum acting_fault acting_make(TALLOC_CTX *mem, const char *client_id, const json_t *previous,
                              const char *issuer, const char *us, json_t **ret);

#endif
