/* Software statements without a check of the signature: an input is header and payload, a line
 * each. Those of other issuers are left out, for they need the database. */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "env.h"
#include "fuzz/fuzz.h"
#include "oauth/statement.c" /* for statement_read_claims(), which no other file may call */
#include "token/software_statement.h"

#define ISSUER "https://as.example"
#define SIGNATURE "AAAA"

static bool
is_ours(TALLOC_CTX *mem, const char *text)
{
    struct jws *jws;
    struct jwt_claims claims;
    if (jws_parse_unverified(mem, text, strlen(text), &jws, NULL) != AZ_OK
        || jwt_claims_parse(mem, jws, &claims, NULL) != AZ_OK)
        return true; /* refused before the issuer is looked up */
    return claims.iss == NULL || strcmp(claims.iss, ISSUER) == 0;
}

static void
check(TALLOC_CTX *mem, const char *text)
{
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    struct statement_reading reading = {.op = &op};
    env_settings(az)->oidc_issuer = ISSUER;
    if (!is_ours(mem, text))
        return;
    enum az_status st = statement_read_claims(&reading, text);
    MUST(st == op.fault.status);
    MUST(st == AZ_OK || st == AZ_INVALID_SOFTWARE_STATEMENT);
    if (st != AZ_OK)
        return;
    const json_t *exp = json_object_get(reading.claims.object, "exp");
    MUST(strcmp(reading.claims.iss, ISSUER) == 0 && reading.own);
    MUST(json_is_number(exp)
         && json_number_value(exp) > (double) (ENV_NOW - STATEMENT_SKEW_PAST - 1));
    MUST(reading.jws->typ != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const uint8_t *line = memchr(data, '\n', size);
    check(mem, talloc_strndup(mem, (const char *) data, size));
    if (line != NULL && size <= JWS_OCTETS_MAX) {
        size_t header = (size_t) (line - data);
        check(mem, talloc_asprintf(mem, "%s.%s." SIGNATURE, b64url_encode(mem, data, header),
                                   b64url_encode(mem, line + 1, size - header - 1)));
    }
    talloc_free(mem);
    return 0;
}
