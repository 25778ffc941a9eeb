/*
 * DPoP proofs. The first octet of an input says what it is: "p" a whole proof, "h" the header and
 * "c" the claims of one that is signed here, so that mutations get past the signature.
 */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "fuzz/fuzz.h"
#include "keys.h"
#include "oauth/dpop/dpop_proof.h"

#define NOW 1795258800
#define WINDOW 60
#define URL "https://as.example/token"

static const char *const algs[] = {"ES256", "RS256", NULL};
static const struct dpop_rule rule = {algs, "POST", URL, NULL, NOW, WINDOW, false};

/* Check the members of a proof that is taken. */
static void
check_taken(TALLOC_CTX *mem, const char *text, const struct dpop_proof *proof)
{
    struct jws *jws = NULL;
    struct jwt_claims claims;
    MUST(jws_parse_unverified(mem, text, strlen(text), &jws, NULL) == AZ_OK);
    MUST(strcmp(jws->alg, "ES256") == 0 || strcmp(jws->alg, "RS256") == 0);
    MUST(jwt_claims_parse(mem, jws, &claims, NULL) == AZ_OK);
    MUST(strcmp(json_string_value(json_object_get(claims.object, "htm")), "POST") == 0);
    MUST(claims.iat.present && claims.iat.seconds >= NOW - WINDOW
         && claims.iat.seconds <= NOW + WINDOW);
    MUST(strlen(proof->jkt) == JWK_THUMBPRINT_SIZE - 1);
    MUST(proof->jti != NULL && *proof->jti != '\0' && strlen(proof->jti) <= DPOP_JTI_MAX);
}

static void
check_proof(TALLOC_CTX *mem, const char *text)
{
    struct dpop_proof proof = {.jti = NULL};
    const char *why = NULL;
    enum az_status st = dpop_proof_read(mem, text, &rule, &proof, &why);
    MUST(st == AZ_OK || (st == AZ_INVALID && why != NULL && proof.jti == NULL));
    if (st == AZ_OK)
        check_taken(mem, text, &proof);
}

/* Put an unsigned proof together: the reader must not fail however it is made up. */
static char *
unsigned_proof(TALLOC_CTX *mem, const char *header, size_t header_length, const char *claims,
               size_t claims_length)
{
    return talloc_asprintf(mem, "%s.%s.%s", b64url_encode(mem, header, header_length),
                           b64url_encode(mem, claims, claims_length),
                           b64url_encode(mem, header, header_length < 64 ? header_length : 64));
}

/* The pair that signs, made once, and its header. */
static const struct jwk *
pair(char **ret_header)
{
    static struct jwk *key;
    static char *header;
    if (key == NULL) {
        json_t *object = NULL;
        MUST(keys_generate_ec(NULL, "P-256", &key) == AZ_OK && jwk_dump(key, &object) == AZ_OK);
        json_t *whole =
            json_pack("{s:s,s:s,s:o}", "typ", "dpop+jwt", "alg", "ES256", "jwk", object);
        header = jsonx_dump(key, whole);
        json_decref(whole);
    }
    *ret_header = header;
    return key;
}

/* Sign claims with the key of the header. */
static char *
signed_proof(TALLOC_CTX *mem, const char *claims, size_t length)
{
    char *header;
    const struct jwk *key = pair(&header);
    char *text = keys_sign_es256(mem, key, header, claims, length);
    MUST(text != NULL);
    return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char good[] =
        "{\"jti\":\"a\",\"htm\":\"POST\",\"htu\":\"" URL "\",\"iat\":1795258800}";
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *rest = (const char *) data + 1;
    if (size > 0 && size < JWS_OCTETS_MAX) {
        if (data[0] == 'p')
            check_proof(mem, talloc_strndup(mem, rest, size - 1));
        if (data[0] == 'h')
            check_proof(mem, unsigned_proof(mem, rest, size - 1, good, strlen(good)));
        if (data[0] == 'c')
            check_proof(mem, signed_proof(mem, rest, size - 1));
    }
    talloc_free(mem);
    return 0;
}
