/* Client authentication (RFC 6749 2.3; oauth.md C9 to C13): Basic, form, or none for public
 * clients. */
#ifndef AZ_OAUTH_CLIENT_AUTH_H
#define AZ_OAUTH_CLIENT_AUTH_H

#include "http/route.h"
#include "store/clients/clients.h"

/* The form parameters of client authentication, for a list of struct route_param. */
/* clang-format off */
#define CLIENT_AUTH_PARAMS \
    {"client_id", false}, {"client_secret", false}, {"client_assertion", false}, {"client_assertion_type", false}
/* clang-format on */

/* What a caller showed of itself. */
struct client_credentials {
    const char *id;         /* decoded client_id; NULL: nothing was shown */
    const char *secret;     /* decoded secret, or NULL */
    const char *raw_id;     /* Basic only: as sent, for clients that do not encode (oauth.md C11) */
    const char *raw_secret; /* Basic only */
    const char *method;     /* client_secret_basic, client_secret_post or none */
    bool other_scheme;      /* Authorization has another scheme than Basic: nothing of a client's */
};

/* Reads the credentials of a request. AZ_INVALID_REQUEST for more than one mechanism,
 * AZ_INVALID_CLIENT for a broken one. Who needs a client refuses other_scheme. */
enum az_status client_credentials_read(struct request *req, struct client_credentials *ret);

/* Whether these credentials are the client's: pure, so that a test can try every combination. */
bool client_credentials_match(const struct client *client, const struct client_credentials *shown,
                              int64_t now);

/*
 * Authenticates against the cached row, and, before refusing, against the row read afresh.
 * AZ_INVALID_CLIENT with one text and one cost for unknown, disabled and wrong (C9). Sets
 * req->client and req->client_method.
 */
enum az_status client_authenticate(struct request *req, const struct client_credentials *shown,
                                   bool fresh);

/*
 * Authenticates the request's client once more, from the row read afresh: before a refusal that
 * rests on the cached row is given, and when the database says that the row is stale.
 */
enum az_status client_authenticate_again(struct request *req);

/*
 * The same for a caller that need not be a client (/revoke): no credentials, and a bare client_id
 * that is no public client's, leave it anonymous (req->client NULL).
 */
enum az_status client_authenticate_if_any(struct request *req, bool fresh);

/* What follows the scheme Bearer in the Authorization header (RFC 6750 2.1), perhaps nothing; NULL
 * for another scheme or none. */
const char *bearer_token_text(const struct request *req);

/* Credentials of the routing table: a client must authenticate (/token), or may (/revoke). */
extern const struct route_credential credential_client;
extern const struct route_credential credential_client_optional;

#endif
