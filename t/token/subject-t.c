#include "config.h"

#include "token/subject.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/digest.h"
#include "env.h"
#include "store/people/identity_providers.h"
#include "tap.h"

#define HOME "https://home.example"
#define OTHER "https://other.example/realm"

static const struct identity_provider list[] = {
    {.id = 1, .idp_id = "home",  .issuer = HOME,  .enabled = true},
    {.id = 2, .idp_id = "other", .issuer = OTHER, .enabled = true},
};
static const struct identity_providers providers = {.count = 2, .provider = list};

/* Return the hash that stands for a sub: base64url of SHA-256 over issuer, NUL, sub. */
static const char *
hash(TALLOC_CTX *mem, const char *issuer, const char *sub)
{
    unsigned char digest[SHA256_OCTETS];
    size_t length = strlen(issuer) + 1 + strlen(sub);
    char *both = talloc_zero_size(mem, length + 1);
    strcpy(both, issuer);
    strcpy(both + strlen(issuer) + 1, sub);
    sha256(both, length, digest);
    return b64url_encode(mem, digest, sizeof(digest));
}

static struct subject_names
names_of(struct op *op, const char *issuer, const char *idp_id, const char *sub)
{
    const struct subject_person person = {issuer, sub, idp_id, "https://listed.example"};
    struct subject_names names = {"failed", "failed"};
    subject_names(op, &providers, &person, &names);
    return names;
}

static void
test_plain(struct op *op)
{
    struct subject_names home = names_of(op, HOME, "home", "alice");
    struct subject_names other = names_of(op, OTHER, "other", "alice");
    is_str(home.name, "alice",
           "the home issuer's subject keeps its sub (decisions.md \"Subject identifiers\")");
    is_str(home.other, hash(op->mem, HOME, "alice"), "... and is a hash if that name is taken");
    is_str(other.name, "other|alice", "another provider's is <idpId>|<sub>");
    is_str(other.other, talloc_asprintf(op->mem, "other|%s", hash(op->mem, OTHER, "alice")),
           "... and <idpId>|<hash> if that name is taken");
    is_str(names_of(op, "https://trusted.example/a", NULL, "bob").name, "trusted.example/a|bob",
           "without a provider: the issuer without its scheme");
    ok(strcmp(names_of(op, HOME, "home", "x y").name, names_of(op, OTHER, "home", "x y").name) != 0,
       "two issuers' subjects never have the same hash");
}

static void
test_hashed(struct op *op)
{
    static const struct {
        const char *sub, *name;
    } hashed[] = {
        {"",                        "an empty one"                          },
        {"al ice",                  "a blank in it"                         },
        {"al\nice",                 "a control character"                   },
        {"al\x7fice",               "DEL"                                   },
        {"\xc3\xa4lice",            "not ASCII"                             },
        {"https://client.example/", "the address of a possible CIMD client" },
        {"http://localhost/client", "... by http"                           },
        {"other|alice",             "another provider's <idpId>|<sub>"      },
        {"home|alice",              "... also with its own provider's idpId"},
    };
    for (size_t i = 0; i < sizeof(hashed) / sizeof(hashed[0]); i++)
        is_str(names_of(op, HOME, "home", hashed[i].sub).name, hash(op->mem, HOME, hashed[i].sub),
               "the home issuer's sub is hashed: %s", hashed[i].name);
    static const char *const kept[] = {"nobody|alice", "|alice", "others|alice", "0a-B_c.d@e",
                                       "ftp://x"};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        is_str(names_of(op, HOME, "home", kept[i]).name, kept[i], "it is kept: %s", kept[i]);
}

static void
test_length(struct op *op)
{
    char sub[SUBJECT_NAME_MAX + 2];
    memset(sub, 'a', sizeof(sub));
    sub[SUBJECT_NAME_MAX] = '\0';
    is_str(names_of(op, HOME, "home", sub).name, sub, "255 characters are kept (Core 2)");
    sub[SUBJECT_NAME_MAX - 6] = '\0';
    is_int((int64_t) strlen(names_of(op, OTHER, "other", sub).name), SUBJECT_NAME_MAX,
           "... with its prefix");
    sub[SUBJECT_NAME_MAX - 6] = 'a';
    sub[SUBJECT_NAME_MAX - 5] = '\0';
    is_str(names_of(op, OTHER, "other", sub).name,
           talloc_asprintf(op->mem, "other|%s", hash(op->mem, OTHER, sub)), "one more is hashed");
    memset(sub, 'a', sizeof(sub));
    sub[SUBJECT_NAME_MAX + 1] = '\0';
    is_str(names_of(op, HOME, "home", sub).name, hash(op->mem, HOME, sub), "... also without one");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    test_plain(&op);
    test_hashed(&op);
    test_length(&op);
    struct identity_providers stored = providers;
    stored.home = "https://first.example";
    is_str(subject_home(&op, &providers, NULL), HOME,
           "before the first sign-in the home issuer is the oldest provider's");
    struct identity_provider off[] = {list[0], list[1]};
    off[0].enabled = false;
    const struct identity_providers partly = {.count = 2, .provider = off};
    is_str(subject_home(&op, &partly, NULL), OTHER, "... that is enabled");
    off[1].enabled = false;
    is_str(subject_home(&op, &partly, "https://listed.example"), "https://listed.example",
           "... and without an enabled one the first trusted issuer");
    is_str(subject_home(&op, &stored, NULL), "https://first.example",
           "then the stored one, which need not have a provider any more");
    stored.count = 0;
    is_str(subject_home(&op, &stored, NULL), "https://first.example", "... nor need anybody else");
    stored.home = NULL;
    ok(subject_home(&op, &stored, NULL) == NULL, "without a provider there is none");
    is_str(subject_home(&op, &stored, "https://listed.example"), "https://listed.example",
           "... but the first trusted issuer");
    is_str(subject_home(&op, &providers, "https://listed.example"), HOME,
           "... which counts for nothing beside a provider");
    env_settings(az)->subject_home_issuer = OTHER;
    stored.home = HOME;
    is_str(subject_home(&op, &stored, NULL), OTHER,
           "SVC_SUBJECT_HOME_ISSUER wins over the stored one");
    is_str(names_of(&op, OTHER, "other", "alice").name, "alice",
           "SVC_SUBJECT_HOME_ISSUER names the home issuer");
    is_str(names_of(&op, HOME, "home", "alice").name, "home|alice",
           "... and the oldest provider's issuer no longer is");
    talloc_free(mem);
    return done();
}
