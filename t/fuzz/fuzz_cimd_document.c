/* Client metadata documents: an input is the whole document, which was found at a fixed address. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "fuzz/fuzz.h"
#include "oauth/client_auth/cimd_document.h"

#define URL "https://app.example/c"
#define URIS 3 /* SVC_MAX_REDIRECT_URIS */
#define DEPTH 32

static void
check_client(const json_t *document, const struct client *client)
{
    size_t count = 0;
    bool code = client->grant_types == NULL;
    for (; client->redirect_uris[count] != NULL; count++)
        MUST(uri_redirect_fault(client->redirect_uris[count]) == NULL);
    MUST(count >= 1 && count <= URIS);
    for (size_t i = 0; client->grant_types != NULL && client->grant_types[i] != NULL; i++)
        code = code || strcmp(client->grant_types[i], "authorization_code") == 0;
    MUST(code);
    if (client->name != NULL) {
        MUST(visible_fault(client->name) == NULL);
        MUST(utf8_length(client->name, strlen(client->name)) <= CIMD_NAME_MAX);
    }
    MUST(client->uri == NULL || uri_web_fault(client->uri) == NULL);
    MUST(json_object_get(document, "client_secret") == NULL);
    MUST(strcmp(json_string_value(json_object_get(document, "client_id")), URL) == 0);
    const char *method = json_string_value(json_object_get(document, "token_endpoint_auth_method"));
    bool keyed = method != NULL && strcmp(method, "private_key_jwt") == 0;
    MUST(method == NULL || keyed || strcmp(method, "none") == 0);
    MUST(strcmp(client->auth_method, keyed ? "private_key_jwt" : "none") == 0);
    MUST(!keyed
         || (json_object_get(document, "jwks") != NULL)
                != (json_object_get(document, "jwks_uri") != NULL));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *document = NULL;
    struct client client = {.id = 0};
    const char *why = NULL;
    if (jsonx_parse(mem, (const char *) data, size, DEPTH, &document, NULL) == AZ_OK) {
        enum az_status st = cimd_document_read(mem, URL, document, URIS, &why, &client);
        MUST(st == AZ_OK || st == AZ_INVALID);
        if (st == AZ_OK)
            check_client(document, &client);
        else
            MUST(why != NULL && *why != '\0' && client.redirect_uris == NULL);
    }
    talloc_free(mem);
    return 0;
}
