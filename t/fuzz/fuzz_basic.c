/* Client credentials. An input is an Authorization header, and the pair inside one. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/settings/settings.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "http/fake_io.h"
#include "oauth/client_auth/client_auth.h"

static const struct route_param params[] = {
    {.name = "client_id"}, {.name = "client_secret"}, {.name = NULL}};

static bool
is_text(const char *text)
{
    return text != NULL && utf8_valid(text, strlen(text));
}

/* Credentials that are read are text with an id; a refusal has a challenge and passes nothing to
 * SQL. */
static void
read_header(TALLOC_CTX *mem, const char *header)
{
    const struct settings cfg = {.oidc_issuer = "https://as.example"};
    const char *set[] = {"HTTP_AUTHORIZATION", header, NULL};
    struct az az = {.cfg = &cfg};
    struct request *req = fake_request(mem, fake_new(mem, set, ""), params);
    struct client_credentials shown;

    req->op.az = &az;
    enum az_status st = client_credentials_read(req, &shown);
    MUST(st == AZ_OK || st == AZ_INVALID_CLIENT);
    MUST(req->op.fault.status == st && (st == AZ_OK) == (req->challenge == NULL));
    if (st != AZ_OK || strlen(header) > HTTP_HEADER_MAX)
        return;
    if (shown.other_scheme) {
        MUST(strncasecmp(header, "Basic ", 6) != 0 && shown.id == NULL && shown.secret == NULL);
        return;
    }
    MUST(strcmp(shown.method, "client_secret_basic") == 0 && *shown.id != '\0');
    MUST(is_text(shown.id) && is_text(shown.secret));
    MUST(is_text(shown.raw_id) && is_text(shown.raw_secret) && strchr(shown.raw_id, ':') == NULL);
    MUST(strlen(shown.id) <= strlen(shown.raw_id));
}

/* RFC 4648 4, so that pairs too are reached by what the fuzzer changes. */
static char *
encode(TALLOC_CTX *mem, const uint8_t *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = talloc_zero_size(mem, 6 + (size + 2) / 3 * 4 + 1), *out = text + 6;
    memcpy(text, "Basic ", 6);
    for (size_t i = 0; i < size; i += 3) {
        unsigned n = (unsigned) data[i] << 16;
        n |= i + 1 < size ? (unsigned) data[i + 1] << 8 : 0;
        n |= i + 2 < size ? data[i + 2] : 0;
        *out++ = digits[n >> 18];
        *out++ = digits[n >> 12 & 63];
        *out++ = i + 1 < size ? digits[n >> 6 & 63] : '=';
        *out++ = i + 2 < size ? digits[n & 63] : '=';
    }
    return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    read_header(mem, talloc_strndup(mem, (const char *) data, size));
    read_header(mem, encode(mem, data, size));
    talloc_free(mem);
    return 0;
}
