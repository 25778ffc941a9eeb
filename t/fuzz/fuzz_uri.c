/* URIs: what is read has sound parts, and what may be registered is a subset of it. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "base/uri.h"
#include "fuzz/fuzz.h"

static void
check_parts(const struct uri *uri)
{
    MUST(uri->scheme != NULL && isalpha((unsigned char) *uri->scheme));
    MUST(strpbrk(uri->scheme, "ABCDEFGHIJKLMNOPQRSTUVWXYZ:/?#@%") == NULL);
    MUST(uri->path != NULL && strpbrk(uri->path, "?# \\\"<>") == NULL);
    MUST(uri->query == NULL || strpbrk(uri->query, "# \\\"<>") == NULL);
    MUST(uri->host == NULL || strpbrk(uri->host, "/?#@[] \\") == NULL);
    MUST(uri->host != NULL || (uri->userinfo == NULL && uri->port == NULL));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *text = talloc_strndup(mem, (const char *) data, size);
    struct uri uri;

    bool sound = uri_parse(mem, text, &uri) == AZ_OK;
    if (sound) {
        check_parts(&uri);
        MUST(strlen(text) <= URI_MAX);
    }
    if (uri_redirect_fault(text) == NULL) {
        MUST(sound && uri.fragment == NULL && uri.userinfo == NULL);
        MUST(strcmp(uri.scheme, "https") == 0 || strncmp(uri.scheme, "http", 4) != 0
             || (strcmp(uri.scheme, "http") == 0 && uri_host_is_loopback(uri.host)));
        MUST(strcmp(uri.scheme, "javascript") != 0 && strcmp(uri.scheme, "data") != 0
             && strcmp(uri.scheme, "file") != 0);
    }
    MUST(uri_https_fault(text) != NULL || (sound && strcmp(uri.scheme, "https") == 0));
    MUST(uri_web_fault(text) != NULL || (sound && strncmp(uri.scheme, "http", 4) == 0));
    talloc_free(mem);
    return 0;
}
