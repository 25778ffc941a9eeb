/* Addresses of client metadata documents: what is taken can be fetched as it is and shown. */
#include "config.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/uri.h"
#include "fuzz/fuzz.h"
#include "oauth/client_auth/cimd_document.h"

/* No agent that resolves the path would come to another one. */
static void
check_path(const char *path)
{
    char plain[CIMD_ADDRESS_MAX + 3];
    size_t length = 0;
    for (const char *c = path; *c != '\0'; c++) {
        bool dot = strncasecmp(c, "%2e", 3) == 0;
        plain[length++] = dot ? '.' : *c;
        c += dot ? 2 : 0;
    }
    plain[length++] = '/';
    plain[length] = '\0';
    MUST(length > 2);
    MUST(strstr(plain, "/./") == NULL && strstr(plain, "/../") == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *text = talloc_strndup(mem, (const char *) data, size);
    struct uri uri;
    if (cimd_document_address_fault(text, NULL) == NULL)
        MUST(strncasecmp(text, "https://", 8) == 0);
    if (cimd_document_address_fault(text, "localhost,[::1]") == NULL) {
        MUST(strlen(text) <= CIMD_ADDRESS_MAX);
        for (const char *c = text; *c != '\0'; c++)
            MUST(isgraph((unsigned char) *c) && *c != '\\');
        MUST(uri_parse(mem, text, &uri) == AZ_OK);
        MUST(uri.userinfo == NULL && uri.fragment == NULL && uri.host != NULL);
        MUST(strpbrk(uri.host, "%*@") == NULL && *uri.host != '\0');
        MUST(strcmp(uri.scheme, "https") == 0 || strcmp(uri.host, "localhost") == 0
             || strcmp(uri.host, "::1") == 0);
        check_path(uri.path);
    }
    talloc_free(mem);
    return 0;
}
