/* Comparison of a redirect_uri with those of a client (RFC 6749 3.1.2.3, oauth.md 3.2). */
#ifndef AZ_OAUTH_REGISTRATION_REDIRECT_URI_H
#define AZ_OAUTH_REGISTRATION_REDIRECT_URI_H

#include <stdbool.h>

#include "store/clients/clients.h"

/*
 * True if a URI matches one registered URI: byte for byte the same (RFC 3986 6.2.1, RFC 9700 2.1).
 * An http URI of 127.0.0.1, [::1] or localhost may differ in its port and in nothing else, because
 * an app on the user's machine gets any free port (RFC 8252 7.3).
 */
bool redirect_uri_matches(const char *registered, const char *asked);

/* True if one of the client's registered URIs matches. */
bool redirect_uri_is_of(const struct client *client, const char *asked);

/*
 * True if a request for this URI, which is one of the client's, must have a code_challenge: the
 * client is confidential, and the port is not the registered one. Another program may hold that
 * port, and inject the code into a sign-in of its own at the client (RFC 9700 4.5). Public clients
 * send a challenge always.
 */
bool redirect_uri_needs_challenge(const struct client *client, const char *asked);

/* True if a consent for this URI may be remembered. Any program on the user's machine can take a
 * loopback port or a private scheme, so for those the user is asked each time. */
bool redirect_uri_is_remembered(const char *uri);

#endif
