/* Whether a redirect_uri is one of a client's (RFC 6749 3.1.2.3, oauth.md 3.2). */
#ifndef AZ_OAUTH_REDIRECT_URI_H
#define AZ_OAUTH_REDIRECT_URI_H

#include <stdbool.h>

#include "store/clients/clients.h"

/*
 * The rule for one registered URI: byte for byte the same (RFC 3986 6.2.1, RFC 9700 2.1). With
 * any_port, for public clients, an http URI of 127.0.0.1, [::1] or localhost may differ in its
 * port, and in nothing else: an app on the user's machine takes the port it gets (RFC 8252 7.3).
 */
bool redirect_uri_matches(const char *registered, const char *asked, bool any_port);

/* Whether one of the client's registered URIs matches. */
bool redirect_uri_is_of(const struct client *client, const char *asked);

/* Whether what was allowed for this URI may be remembered: any program of the user's machine can
 * take a loopback port or a private scheme, so those are asked about each time. */
bool redirect_uri_is_remembered(const char *uri);

#endif
