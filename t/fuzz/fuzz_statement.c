/* Software statements without a check of the signature: an input is header and payload, a line
 * each. Of those of other issuers only the rules of statement_kind.h are run, for the rest needs
 * the database. */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "env.h"
#include "fuzz/fuzz.h"
#include "oauth/registration/statement.c" /* for statement_read_claims(), which no other file may call */
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

/* Check that a token that passes for a statement says that it is one, and is for nobody else. */
static void
check_kind_rules(TALLOC_CTX *mem, const struct jws *jws, const struct jwt_claims *claims,
                 const json_t *audiences)
{
    const struct statement_kind kind = {jws->typ, claims, ISSUER, audiences};
    const char *detail = NULL, *fault = statement_kind_fault(mem, &kind, &detail);
    const char *software_id = json_string_value(json_object_get(claims->object, "software_id"));
    MUST(fault == NULL || detail != NULL);
    if (fault != NULL)
        return;
    MUST((software_id != NULL && *software_id != '\0')
         || (jws->typ != NULL && statement_type_is(jws->typ, our_types)));
    MUST(json_object_get(claims->object, "nonce") == NULL);
    if (audiences != NULL)
        MUST(claims->aud_count > 0);
    else
        MUST(claims->sub == NULL || (software_id != NULL && strcmp(claims->sub, software_id) == 0));
}

static void
check_foreign(TALLOC_CTX *mem, const char *text)
{
    struct jws *jws;
    struct jwt_claims claims;
    if (jws_parse_unverified(mem, text, strlen(text), &jws, NULL) != AZ_OK
        || jwt_claims_parse(mem, jws, &claims, NULL) != AZ_OK)
        return;
    check_kind_rules(mem, jws, &claims, NULL);
    check_kind_rules(mem, jws, &claims, env_json(mem, "['" ISSUER "','us']"));
}

static void
check(TALLOC_CTX *mem, const char *text)
{
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    struct statement_reading reading = {.op = &op};
    env_settings(az)->oidc_issuer = ISSUER;
    check_foreign(mem, text);
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
