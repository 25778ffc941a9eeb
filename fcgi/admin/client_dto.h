/* ClientDto (specification 2.1): its field table and the rules between its fields. Knows nothing of
 * HTTP. */
#ifndef AZ_ADMIN_CLIENT_DTO_H
#define AZ_ADMIN_CLIENT_DTO_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "base/fields.h"
#include "store/clients/clients_admin.h"

/* What a ClientDto is held against beside its table. */
struct client_dto_rules {
    long max_redirect_uris; /* SVC_MAX_REDIRECT_URIS */
    const char *path_id;    /* clientId of the path (PUT), NULL when a client is made (POST) */
    const struct client_state *state; /* the stored row (PUT), NULL when a client is made */
};

/* A ClientDto that is good. */
struct client_dto {
    const char *client_id; /* which client */
    const char *columns;   /* values by column, JSON object as text */
    const char *secret;    /* clientSecret as given, or NULL */
    bool confidential;     /* clientType */
    json_t *statement;     /* claims to be signed for it, or NULL */
};

/*
 * Reads a ClientDto and tells every fault. AZ_INVALID: there was one. AZ_SERVER_ERROR: no memory.
 * Texts live on mem or as long as object.
 *
 * clientId: any text that survives a header, a log line and a URL: no control or formatting
 * characters, no space at its ends, not "." or "..". An https URL is allowed: the administrator's
 * row then stands for that client, and no metadata document is fetched for it.
 */
enum az_status client_dto_read(TALLOC_CTX *mem, json_t *object,
                               const struct client_dto_rules *rules, field_fault_fn *fault,
                               void *fault_arg, struct client_dto *ret);

#endif
