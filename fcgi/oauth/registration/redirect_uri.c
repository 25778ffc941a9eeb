#include "config.h"

#include "oauth/registration/redirect_uri.h"

#include <string.h>

#include "base/digits.h"
#include "base/uri.h"

/* Beginnings of loopback URIs; a URI is compared only with those of the same beginning. */
static const char *const loopbacks[] = {"http://127.0.0.1", "http://[::1]", "http://localhost"};
#define PORT_MAX 65535
#define PORT_DIGITS_MAX 5
#define LOOPBACKS (sizeof(loopbacks) / sizeof(loopbacks[0]))

/*
 * Return the rest of a URI after this beginning and an optional port, or NULL if it is another
 * beginning, or no valid port. A longer host (127.0.0.1.evil.example) or user information
 * (localhost:1@evil) does not end there.
 */
static const char *
after_port(const char *uri, const char *begin)
{
    size_t length = strlen(begin);
    if (strncmp(uri, begin, length) != 0)
        return NULL;
    const char *rest = uri + length;
    if (*rest == ':') {
        int64_t port;
        size_t digits = digits_take(rest + 1, PORT_DIGITS_MAX, PORT_MAX + 1, &port);
        if (port < 1 || port > PORT_MAX)
            return NULL;
        rest += 1 + digits;
    }
    return *rest == '\0' || *rest == '/' || *rest == '?' ? rest : NULL;
}

bool
redirect_uri_matches(const char *registered, const char *asked)
{
    if (strcmp(registered, asked) == 0)
        return true;
    for (size_t i = 0; i < LOOPBACKS; i++) {
        const char *of_registered = after_port(registered, loopbacks[i]);
        const char *of_asked = after_port(asked, loopbacks[i]);
        if (of_registered != NULL && of_asked != NULL)
            return strcmp(of_registered, of_asked) == 0;
    }
    return false;
}

bool
redirect_uri_is_of(const struct client *client, const char *asked)
{
    /* It is longer than any registered one, and a redirect to it would not fit a header line. */
    if (strlen(asked) > URI_MAX)
        return false;
    for (const char **uri = client->redirect_uris; uri != NULL && *uri != NULL; uri++)
        if (redirect_uri_matches(*uri, asked))
            return true;
    return false;
}

bool
redirect_uri_needs_challenge(const struct client *client, const char *asked)
{
    for (const char **uri = client->redirect_uris; uri != NULL && *uri != NULL; uri++)
        if (strcmp(*uri, asked) == 0)
            return false;
    return !client_is_public(client);
}

bool
redirect_uri_is_remembered(const char *uri)
{
    struct uri parts;
    TALLOC_CTX *scratch = talloc_new(NULL);
    bool remembered = scratch != NULL && uri_parse(scratch, uri, &parts) == AZ_OK
                      && strcmp(parts.scheme, "https") == 0 && parts.host != NULL
                      && !uri_host_is_loopback(parts.host);
    talloc_free(scratch);
    return remembered;
}
