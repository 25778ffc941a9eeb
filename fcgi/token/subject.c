#include "config.h"

#include "token/subject.h"

#include <string.h>

#include "base/b64url.h"
#include "base/settings/settings.h"
#include "crypto/digest.h"
#include "store/people/identity_providers.h"

const char *
subject_home(const struct op *op, const struct identity_providers *providers,
             const char *first_trusted)
{
    const char *set = op->az->cfg->subject_home_issuer;
    if (set != NULL)
        return set;
    if (providers->home != NULL)
        return providers->home;
    for (size_t i = 0; i < providers->count; i++)
        if (providers->provider[i].enabled)
            return providers->provider[i].issuer;
    return first_trusted;
}

static bool
is_home(const struct op *op, const struct identity_providers *providers,
        const struct subject_person *person)
{
    const char *home = subject_home(op, providers, person->first_trusted);
    return home != NULL && strcmp(home, person->issuer) == 0;
}

/* True if the sub starts with `<idpId>|` of a provider, so that it could be taken for the name of
 * one of that provider's subjects. */
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

/* True if the sub could be the client_id of a metadata document. Such a client gets its row at its
 * first use, so a missing row proves nothing. */
static bool
looks_like_client(const char *sub)
{
    return strncmp(sub, "https://", 8) == 0 || strncmp(sub, "http://", 7) == 0;
}

/* Return the SHA-256 of issuer and sub, so that no two issuers share it. The NUL after the issuer
 * separates them. */
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
    bool home = is_home(op, providers, person);
    const char *prefix = home ? "" : prefix_of(op->mem, person);
    if (hash == NULL || prefix == NULL)
        return op_no_memory(op);
    bool hashed = *sub == '\0' || !is_printable(sub)
                  || strlen(prefix) + strlen(sub) > SUBJECT_NAME_MAX
                  || (home && (looks_like_client(sub) || names_provider(providers, sub)));
    struct subject_names names = {
        .name = talloc_asprintf(op->mem, "%s%s", prefix, hashed ? hash : sub),
        .other = talloc_asprintf(op->mem, "%s%s", prefix, hash),
    };
    if (names.name == NULL || names.other == NULL)
        return op_no_memory(op);
    *ret = names;
    return AZ_OK;
}
