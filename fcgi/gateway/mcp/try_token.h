/* The token that a client would call a tool with: policy is asked if it would be issued, and if it
 * would be good at the gateway (evaluations 1 and 2). None is made. */
#ifndef AZ_GATEWAY_MCP_TRY_TOKEN_H
#define AZ_GATEWAY_MCP_TRY_TOKEN_H

#include "gateway/mcp/tools/catalogue.h"
#include "policy/decide/ask.h"
#include "store/clients/clients.h"

/* The pattern of the endpoint at which clients call tools: rules see the same. */
#define TRY_CALLED_AT "/gateway/mcp/{name}"

struct try_token {
    struct request *req;
    struct client *client;
    const char *subject, *idp; /* person, or NULL: the client itself */
    json_t *wanted;            /* array: its scopes */
    const char *address;       /* the resource that it names */
    /* The outcome. */
    bool met;         /* the person has signed in by `idp` */
    json_t *holder;   /* member `subject` of questions */
    json_t *scopes;   /* array: the granted scopes; NULL only if the token is denied */
    json_t *baseline; /* answer to the issuance */
    json_t *reasons;  /* array: why the token is denied; NULL: it is allowed */
    const char *auth_method, *revision;
    int64_t expires_at;
};

/* Ask about the token. AZ_OK with an answer. AZ_INVALID_FIELDS: no such person.
 * AZ_POLICY_UNAVAILABLE: there is no valid answer. */
enum az_status try_token_ask(struct try_token *it);

/* One question to policy; `ret` gets what is stored of it. */
typedef enum az_status try_ask_fn(struct op *op, const void *question, void *answer,
                                  struct verdict *ret);

/* Ask until a revision answers that may decide. AZ_POLICY_UNAVAILABLE: no such revision answers. */
enum az_status try_ask_until(struct op *op, try_ask_fn *ask, const void *question, void *answer,
                             struct verdict *ret);

#endif
