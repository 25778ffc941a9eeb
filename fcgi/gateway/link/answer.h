/* Answers of the token endpoint of an upstream's authorization server (RFC 6749 5), as the
 * differences between providers need them read (gateway-admin.md 3.5). No HTTP. */
#ifndef AZ_GATEWAY_LINK_ANSWER_H
#define AZ_GATEWAY_LINK_ANSWER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

/* Longest access or refresh token, in octets: the value must fit into one header line of the
 * upstream's web server, which is 8 KiB at most of them. */
#define LINK_TOKEN_MAX 8000
/* Longest life that is believed, in seconds: ten years. A longer one is cut. */
#define LINK_EXPIRES_MAX 315360000
/* Longest label of an account, in octets. */
#define LINK_ACCOUNT_MAX 200
/* Most scopes that are kept of an answer. */
#define LINK_SCOPES_MAX 100
/* Nesting of an answer. Real ones have 2 or 3 levels. */
#define LINK_ANSWER_DEPTH_MAX 16

/* The way to read the answers of one upstream; NULL: the ordinary way. */
struct link_reading {
    const char *access_token_pointer; /* RFC 6901; NULL: /access_token */
    const char *account_pointer;      /* of the label of the account; NULL: there is none */
    const char *scope_separator;      /* of the request; answers may use spaces and commas too */
    int64_t default_expires_in;       /* seconds; 0: a token without expires_in does not expire */
};

/* The tokens; on mem. */
struct link_tokens {
    const char *access_token;  /* fit for a header */
    const char *refresh_token; /* NULL: none came */
    int64_t expires_in;        /* seconds; 0: it does not expire */
    json_t *scopes;            /* array of those that were granted; NULL: the answer does not say */
    const char *account;       /* NULL: unknown */
};

/* The meaning of an answer. */
enum link_outcome {
    LINK_TOKENS,         /* tokens came */
    LINK_GRANT_REFUSED,  /* invalid_grant: the code or the refresh token does not count any more */
    LINK_CLIENT_REFUSED, /* invalid_client, unauthorized_client: we are not known there any more */
    LINK_FAILED,         /* another error of the server; it may pass */
    LINK_MALFORMED,      /* no answer of RFC 6749 */
};

/*
 * Read an answer. An error is one whatever the status is: some providers send errors with status
 * 200. *ret_error is the error code for the operator's log, cut and printable, or "". AZ_OK and a
 * meaning, or AZ_SERVER_ERROR: no memory.
 */
enum az_status link_answer_read(TALLOC_CTX *mem, const struct link_reading *reading, int status,
                                const char *body, size_t length, enum link_outcome *ret_outcome,
                                struct link_tokens *ret, const char **ret_error);

/* Return the scopes of a text that separates them by `separator` (or NULL), spaces or commas, as an
 * array on mem; NULL: no memory. */
json_t *link_scopes_split(TALLOC_CTX *mem, const char *text, const char *separator);

/* Return the scopes of `asked` that are not in `granted`, as an array on mem; NULL: no memory. The
 * scopes of OpenID Connect are never missing: providers rename them and leave them out. */
json_t *link_scopes_missing(TALLOC_CTX *mem, const json_t *asked, const json_t *granted);

#endif
