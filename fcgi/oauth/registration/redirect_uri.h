/* Comparison of a redirect_uri with those of a client (RFC 6749 3.1.2.3, oauth.md 3.2). */
#ifndef AZ_OAUTH_REGISTRATION_REDIRECT_URI_H
#define AZ_OAUTH_REGISTRATION_REDIRECT_URI_H

#include <stdbool.h>

#include "store/clients/clients.h"

/*
 * True if a URI matches one registered URI: byte for byte the same (RFC 3986 6.2.1, RFC 9700 2.1).
 * With any_port, for public clients, an http URI of 127.0.0.1, [::1] or localhost may differ in its
 * port and in nothing else, because an app on the user's machine gets any free port (RFC 8252 7.3).
 */
bool redirect_uri_matches(const char *registered, const char *asked, bool any_port);

/* True if one of the client's registered URIs matches. */
bool redirect_uri_is_of(const struct client *client, const char *asked);

/* True if a consent for this URI may be remembered. Any program on the user's machine can take a
 * loopback port or a private scheme, so for those the user is asked each time. */
bool redirect_uri_is_remembered(const char *uri);

#endif
