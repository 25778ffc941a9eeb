/* ID tokens that are exchanged, without a check of the signature, and their act claims: an input is
 * header and payload, a line each. */
#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "base/words.h"
#include "env.h"
#include "fuzz/fuzz.h"
#include "oauth/client_auth/issuer_keys.h"
#include "oauth/exchange/acting.h"
#include "oauth/exchange/subject_id_token.h"

#define SIGNATURE "AAAA"

static const char *const audiences[] = {"us", NULL};

/* Check a chain that was made: at most ACTING_DEPTH_MAX actors, each with a name, all previous ones
 * with an issuer. */
static void
check_chain(TALLOC_CTX *mem, const json_t *previous)
{
    json_t *act = NULL;
    enum acting_fault fault =
        acting_make(mem, "gate", previous, "https://idp.example", "https://authz.example", &act);
    MUST((fault == ACTING_GOOD) == (act != NULL) && fault != ACTING_OURS);
    size_t depth = 0;
    for (const json_t *at = act; at != NULL; at = json_object_get(at, "act")) {
        MUST(json_string_length(json_object_get(at, "sub")) > 0);
        MUST((json_object_get(at, "iss") == NULL) == (depth == 0));
        depth++;
    }
    MUST(depth <= ACTING_DEPTH_MAX);
}

/* Check that a good token is in time, for us, and no other kind of token. */
static void
check_good(const struct subject_id_token *token, bool listed)
{
    const struct jwt_claims *claims = &token->claims;
    const json_t *kind = json_object_get(claims->object, "typ");
    MUST(claims->exp.present && claims->exp.seconds > ENV_NOW);
    MUST(!claims->nbf.present || claims->nbf.seconds <= ENV_NOW + SUBJECT_ID_TOKEN_SKEW);
    MUST(!claims->iat.present || claims->iat.seconds <= ENV_NOW + SUBJECT_ID_TOKEN_SKEW);
    MUST(kind == NULL || strcmp(json_string_value(kind), "ID") == 0);
    MUST(json_object_get(claims->object, "events") == NULL);
    MUST(words_has(issuer_algs, token->jws->alg));
    bool named = false;
    for (size_t i = 0; i < claims->aud_count; i++)
        named = named || strcmp(claims->aud[i], "us") == 0;
    MUST(!listed || named);
}

static void
check(TALLOC_CTX *mem, const char *text)
{
    struct subject_id_token token;
    const char *why = NULL, *detail = NULL;
    enum az_status st = subject_id_token_read(mem, text, &token, &why, &detail);
    MUST(st == AZ_OK || (st == AZ_INVALID && why != NULL && detail != NULL));
    if (st != AZ_OK)
        return;
    MUST(*token.claims.iss != '\0' && *token.claims.sub != '\0');
    check_chain(mem, json_object_get(token.claims.object, "act"));
    for (int listed = 0; listed < 2; listed++) {
        detail = NULL;
        st = subject_id_token_check(&token, listed == 1 ? audiences : NULL, ENV_NOW, &why, &detail);
        MUST(st == AZ_OK || (why != NULL && detail != NULL));
        if (st == AZ_OK)
            check_good(&token, listed == 1);
    }
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
