/* Client authentication (RFC 6749 2.3; oauth.md C9 to C13, J1 to J9): Basic, form,
 * assertion, or none for public clients. */
#ifndef AZ_OAUTH_CLIENT_AUTH_H
#define AZ_OAUTH_CLIENT_AUTH_H

#include "http/route.h"
#include "oauth/client_auth/client_assertion.h"
#include "store/clients/clients.h"

/* The form parameters of client authentication, for a list of struct route_param. */
/* clang-format off */
#define CLIENT_AUTH_PARAMS \
    {.name = "client_id", \
     .help = "Id of the client, unless it authenticates by Basic, an assertion or a token"}, \
    {.name = "client_secret", \
     .help = "Secret of a confidential client, unless it authenticates by Basic or an assertion"}, \
    {.name = "client_assertion", \
     .help = "JWT that the client has signed, in place of a secret (RFC 7523 2.2)"}, \
    {.name = "client_assertion_type", \
     .help = "Kind of client_assertion, given together with it: " \
             "urn:ietf:params:oauth:client-assertion-type:jwt-bearer, or " \
             "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe for a JWT-SVID"}
/* clang-format on */

/* The client credentials of a request. */
struct client_credentials {
    const char *id;         /* decoded client_id, or NULL if none was sent */
    const char *secret;     /* decoded secret, or NULL */
    const char *raw_id;     /* Basic only: as sent, for clients that do not encode (oauth.md C11) */
    const char *raw_secret; /* Basic only */
    const char
        *method; /* client_secret_basic, client_secret_post, private_key_jwt, spiffe_jwt or none */
    const struct client_assertion *assertion; /* not verified, or NULL if none was sent */
    bool other_scheme; /* the Authorization header has a scheme other than Basic */
};

/* Read the credentials of a request. AZ_INVALID_REQUEST: more than one authentication method, or an
 * assertion without its type or of an unknown one. AZ_INVALID_CLIENT: malformed credentials, or an
 * assertion that is refused whoever signed it. An endpoint that needs a client refuses
 * other_scheme.
 */
enum az_status client_credentials_read(struct request *req, struct client_credentials *ret);

/* True if the credentials, which are no assertion, are the client's. A pure function, so that a
 * test can try every combination. */
bool client_credentials_match(const struct client *client, const struct client_credentials *shown,
                              int64_t now);

/* Attempts of a request whose client changes: the cached row may be out of date, and a fresh one
 * may change again before the statement that depends on it, or while policy is asked. With two, one
 * change was enough for a 503 in a process that had not seen the change before. More than this many
 * in a row, each between two round trips, is no administrator's work. */
#define CLIENT_ATTEMPTS 8

/*
 * Authenticate the client of the request once more, against a fresh row: before a refusal that
 * rests on the cached row, and when the database reports that the cached row is out of date.
 */
enum az_status client_authenticate_again(struct request *req);

/* Authenticate a client with a secret by the Basic credentials of another header field (CGI name)
 * than Authorization, which is a caller's that the client asks about. fresh: against a fresh row.
 * AZ_INVALID_CLIENT: absent or wrong. */
enum az_status client_authenticate_by(struct request *req, const char *header, bool fresh);

/*
 * Authenticate a caller that need not be a client (/revoke). No credentials, or the bare client_id
 * of a confidential client, leave the caller anonymous (req->client NULL).
 */
enum az_status client_authenticate_if_any(struct request *req, bool fresh);

/* Credentials for the routing table: a client must authenticate (/token), or may (/revoke). */
extern const struct route_credential credential_client;
extern const struct route_credential credential_client_optional;

#endif
