/* Texts of JWT access tokens (world.md T2, T4): which text is read as a token, and that its hash
 * covers each octet. How they are made: t/http/introspect/access_jwt.t. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "base/b64url.h"
#include "crypto/jws.h"
#include "crypto/keypair.h"
#include "tap.h"
#include "token/access_jwt.h"

#define JTI "AAAqAZ9z4ChwcoGCAwQFBgcICQ"
#define GOOD "{\"jti\":\"" JTI "\"}"

static const struct {
    const char *typ, *payload;
    bool read;
    const char *name;
} cases[] = {
    {"at+jwt",             GOOD,                                       true,  "a JWT access token"                 },
    {"JWT",                GOOD,                                       false, "an ID token"                        },
    {NULL,                 GOOD,                                       false, "a token without typ"                },
    {"application/at+jwt", GOOD,                                       false, "a typ that we do not write"         },
    {"at+jwt",             "{}",                                       false, "a token without jti"                },
    {"at+jwt",             "{\"jti\":1}",                              false, "a jti that is a number"             },
    {"at+jwt",             "{\"jti\":\"AAAqAZ9z4ChwcoGCAwQFBgcIC\"}",  false, "a jti that is too short"            },
    {"at+jwt",             "{\"jti\":\"" JTI "A\"}",                   false, "a jti that is too long"             },
    {"at+jwt",             "{\"jti\":\"AAAqAZ9z4ChwYoGCAwQFBgcICQ\"}", false, "a jti of another UUID version"      },
    {"at+jwt",             "[\"" JTI "\"]",                            false, "a payload that is no object"        },
    {"at+jwt",             "{\"jti\":\"" JTI "\",\"jti\":\"x\"}",      false, "a payload that names a member twice"},
    {"at+jwt",             "x",                                        false, "a payload that is no JSON"          },
};

static void
test_texts(TALLOC_CTX *mem, const struct jwk *key)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum token_kind kind;
        struct token_parts parts;
        char *text;
        if (jws_sign(mem, key, "ES256", cases[i].typ, cases[i].payload, strlen(cases[i].payload),
                     &text)
            != AZ_OK)
            continue;
        is_int(access_jwt_parse(mem, text, &kind, &parts), cases[i].read ? AZ_OK : AZ_INVALID, "%s",
               cases[i].name);
        if (cases[i].read) {
            is_int(kind, TOKEN_ACCESS, "... it is an access token");
            is_int(parts.bucket, 42, "... its jti begins with the bucket");
        }
    }
}

/* Each octet of the text is hashed: a token whose signature was changed is another token. */
static void
test_each_octet(TALLOC_CTX *mem, const struct jwk *key)
{
    enum token_kind kind;
    struct token_parts whole, changed;
    char *text;
    int same = 0;
    if (jws_sign(mem, key, "ES256", "at+jwt", GOOD, strlen(GOOD), &text) != AZ_OK
        || access_jwt_parse(mem, text, &kind, &whole) != AZ_OK) {
        ok(false, "a token is read");
        return;
    }
    for (char *at = text; *at != '\0'; at++) {
        char kept = *at;
        *at = kept == 'A' ? 'B' : 'A';
        if (access_jwt_parse(mem, text, &kind, &changed) == AZ_OK
            && memcmp(whole.secret_hash, changed.secret_hash, SHA256_OCTETS) == 0)
            same++;
        *at = kept;
    }
    is_int(same, 0, "no octet can be changed without changing the hash");
}

static void
test_lengths(TALLOC_CTX *mem, const struct jwk *key)
{
    for (int over = 0; over < 2; over++) {
        enum token_kind kind;
        struct token_parts parts;
        char *text = NULL;
        for (size_t fill = 2500;
             text == NULL || strlen(text) < ACCESS_JWT_OCTETS_MAX + (size_t) over; fill++) {
            char *payload =
                talloc_asprintf(mem, "{\"jti\":\"" JTI "\",\"x\":\"%0*d\"}", (int) fill, 0);
            if (jws_sign(mem, key, "ES256", "at+jwt", payload, strlen(payload), &text) != AZ_OK)
                break;
        }
        bool fits = strlen(text) <= ACCESS_JWT_OCTETS_MAX;
        is_int(access_jwt_parse(mem, text, &kind, &parts), fits ? AZ_OK : AZ_INVALID,
               "a token of %zu octets", strlen(text));
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct jwk *key;
    if (keypair_generate_p256(mem, &key) != AZ_OK)
        return 1;
    test_texts(mem, key);
    test_each_octet(mem, key);
    test_lengths(mem, key);
    talloc_free(mem);
    return done();
}
