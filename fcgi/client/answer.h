/* The reader of answers of token endpoints (RFC 6749 5), with the differences between providers
 * (gateway-admin.md 3.5). It asks nobody. */
#ifndef AZ_CLIENT_ANSWER_H
#define AZ_CLIENT_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"
#include "http/fetch/fetch.h"

/* Longest access or refresh token, in octets: the value must fit into one header line of the
 * upstream's web server, which is 8 KiB at most of them. */
#define CLIENT_TOKEN_MAX 8000
/* Longest lifetime that is accepted, in seconds: ten years. A longer one is cut. */
#define CLIENT_EXPIRES_MAX 315360000
/* Longest label of an account, in octets. */
#define CLIENT_ACCOUNT_MAX 200
/* Most scopes that are kept of an answer. */
#define CLIENT_SCOPES_MAX 100
/* Nesting of an answer. Real ones have 2 or 3 levels. */
#define CLIENT_ANSWER_DEPTH_MAX 16
/* Most parameters of an answer that is a form. RFC 6749 5.1 has five. */
#define CLIENT_FORM_PAIRS_MAX 64

/* The way to read the answers of one server; all zero: the ordinary way. */
struct client_reading {
    const char *access_token_pointer; /* RFC 6901; NULL: /access_token */
    const char *account_pointer;      /* of the label of the account, or NULL if there is none */
    const char *scope_separator;      /* of the request; answers may use spaces and commas too */
    int64_t default_expires_in;       /* seconds; 0: a token without expires_in does not expire */
    bool bearer;                      /* another token_type than Bearer is refused also if
                                         access_token_pointer is set: such providers have types of
                                         their own */
    bool access_optional;             /* an ID token is wanted: without an access token of type
                                         Bearer, which no token_type counts as, access_token is NULL */
};

/* The tokens; on mem. */
struct client_tokens {
    const char *access_token;  /* fit for a header */
    const char *refresh_token; /* may be sent in a form; or NULL */
    const char *id_token;      /* OpenID Connect Core 3.1.3.3, not checked; or NULL */
    const char *issued_type;   /* issued_token_type (RFC 8693 2.2.1), or NULL */
    const char *token_type;    /* or NULL */
    int64_t expires_in;        /* seconds; 0: it does not expire */
    json_t *scopes;      /* array of the granted scopes, or NULL if the answer does not name them */
    const char *account; /* NULL if unknown */
};

/* The meaning of an answer. */
enum client_outcome {
    CLIENT_TOKENS,         /* the answer has tokens */
    CLIENT_GRANT_REFUSED,  /* invalid_grant: the code or the refresh token is no longer valid */
    CLIENT_CLIENT_REFUSED, /* invalid_client, unauthorized_client: we are not known there any more
                            */
    CLIENT_REFUSED,        /* 400, 401 or 403 without a code that tells what is wrong */
    CLIENT_FAILED,         /* another error of the server, which may be temporary */
    CLIENT_MALFORMED,      /* not an answer by RFC 6749 */
};

/* The content of an answer; on mem. */
struct client_answer {
    enum client_outcome outcome;
    struct client_tokens tokens; /* of CLIENT_TOKENS */
    const char *error; /* the error code for the operator's log, cut and printable, or "" */
};

/*
 * Read an answer. Members that are null or "" count as absent (world.md U8). An error is recognized
 * with any status, because some providers send errors with status 200; it may be a text, an object
 * or the first of `errors` (world.md M6). A form is read as one by its media type (world.md M7).
 * AZ_OK with a meaning, or AZ_SERVER_ERROR: no memory.
 */
enum az_status client_answer_read(TALLOC_CTX *mem, const struct client_reading *reading,
                                  const struct fetch_answer *got, struct client_answer *ret);

/* Return the scopes of a text that separates them by `separator` (or NULL), spaces or commas, as an
 * array on mem, or NULL if out of memory. */
json_t *client_scopes_split(TALLOC_CTX *mem, const char *text, const char *separator);

/*
 * Return the scopes of `asked` that are not in `granted`, as an array on mem, or NULL if out of
 * memory. The scopes of OpenID Connect are never missing: providers rename them and leave them
 * out.
 */
json_t *client_scopes_missing(TALLOC_CTX *mem, const json_t *asked, const json_t *granted);

#endif
