#include "config.h"

#include "token/subject.h"

#include <string.h>

#include "base/b64url.h"
#include "base/settings.h"
#include "crypto/digest.h"
#include "store/people/identity_providers.h"

/* Whether it is the home issuer: by the setting, else the oldest provider's. */
static bool
is_home(const struct op *op, const struct identity_providers *providers, const char *issuer)
{
    const char *home = op->az->cfg->subject_home_issuer;
    if ((home == NULL || *home == '\0') && providers->count > 0)
        home = providers->provider[0].issuer;
    return home != NULL && strcmp(home, issuer) == 0;
}

/* What could be taken for somebody else's name: a provider's `<idpId>|` in front. */
static bool
names_provider(const struct identity_providers *providers, const char *sub)
{
    size_t length = strcspn(sub, "|");
    for (size_t i = 0; sub[length] == '|' && i < providers->count; i++)
        if (strlen(providers->provider[i].idp_id) == length
            && strncmp(providers->provider[i].idp_id, sub, length) == 0)
            return true;
    return false;
}

static bool
is_printable(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= 0x20 || *text >= 0x7f)
            return false;
    return true;
}

/* A client_id that is the address of a metadata document gets its row when it is first used, so
 * that looking for the row does not find it. */
static bool
looks_like_client(const char *sub)
{
    return strncmp(sub, "https://", 8) == 0 || strncmp(sub, "http://", 7) == 0;
}

/* SHA-256 over both, so that no two issuers share it; NUL ends the first, which has none. */
static const char *
hash_person(TALLOC_CTX *mem, const struct subject_person *person)
{
    unsigned char hash[SHA256_OCTETS];
    size_t first = strlen(person->issuer) + 1, second = strlen(person->upstream_sub);
    char *both = talloc_size(mem, first + second);
    if (both == NULL)
        return NULL;
    memcpy(both, person->issuer, first);
    memcpy(both + first, person->upstream_sub, second);
    enum az_status st = sha256(both, first + second, hash);
    talloc_free(both);
    return st == AZ_OK ? b64url_encode(mem, hash, sizeof(hash)) : NULL;
}

static const char *
prefix_of(TALLOC_CTX *mem, const struct subject_person *person)
{
    const char *authority = strstr(person->issuer, "://");
    if (person->idp_id != NULL)
        return talloc_asprintf(mem, "%s|", person->idp_id);
    return talloc_asprintf(mem, "%s|", authority != NULL ? authority + 3 : person->issuer);
}

enum az_status
subject_names(struct op *op, const struct identity_providers *providers,
              const struct subject_person *person, struct subject_names *ret)
{
    const char *sub = person->upstream_sub, *hash = hash_person(op->mem, person);
    bool home = is_home(op, providers, person->issuer);
    const char *prefix = home ? "" : prefix_of(op->mem, person);
    if (hash == NULL || prefix == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory for a subject's name");
    bool hashed = *sub == '\0' || !is_printable(sub)
                  || strlen(prefix) + strlen(sub) > SUBJECT_NAME_MAX
                  || (home && (looks_like_client(sub) || names_provider(providers, sub)));
    struct subject_names names = {
        .name = talloc_asprintf(op->mem, "%s%s", prefix, hashed ? hash : sub),
        .other = talloc_asprintf(op->mem, "%s%s", prefix, hash),
    };
    if (names.name == NULL || names.other == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory for a subject's name");
    *ret = names;
    return AZ_OK;
}
