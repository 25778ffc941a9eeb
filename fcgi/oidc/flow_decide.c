#include "config.h"

#include "oidc/flow_decide.h"

#include <string.h>
#include <strings.h>

#include "base/uri.h"

bool
flow_session_serves(const struct authorization *authorization, const struct session *session)
{
    /* OpenID Connect Core 3.1.2.1: the user chooses an account, or makes one. */
    bool chooses = authorization->prompt_select || authorization->prompt_create;
    if (!session->found || (chooses && !authorization->signed_in)
        || !authorization_is_fresh(authorization, session->auth_time))
        return false;
    /* OpenID Connect Core 3.1.2.1: the hint names who must be signed in. */
    return !authorization->prompt_none || authorization->hint_subject == NULL
           || strcmp(authorization->hint_subject, session->subject) == 0;
}

/*
 * True if the user must agree, unless a consent is remembered: prompt=consent, or the mode of the
 * control and how the client was registered. Every client that an administrator did not register
 * has introduced itself. The provider knows all of them by our one client_id, so the user cannot
 * tell them apart there (the confused deputy).
 */
static bool
consent_is_due(const struct authorization *authorization, const struct client *client,
               enum consent_mode mode)
{
    if (authorization->prompt_consent || mode == CONSENT_ALWAYS)
        return true;
    return mode != CONSENT_OFF && strcmp(client->registration, "ADMIN") != 0;
}

static enum flow_next
flow_fail(enum az_status error, enum az_status *ret_error)
{
    *ret_error = error;
    return FLOW_ERROR;
}

static enum flow_next
decide_sign_in(const struct flow_facts *facts, enum az_status *ret_error)
{
    /* The browser has already been to the provider for this request; do not redirect it again. */
    if (facts->authorization->prompt_none || facts->authorization->signed_in)
        return flow_fail(AZ_LOGIN_REQUIRED, ret_error);
    if (facts->providers == 0)
        return flow_fail(AZ_SERVER_ERROR, ret_error);
    return facts->providers == 1 ? FLOW_UPSTREAM : FLOW_CHOOSE;
}

enum flow_next
flow_decide(const struct flow_facts *facts, enum az_status *ret_error)
{
    const struct authorization *authorization = facts->authorization;
    if (!flow_session_serves(authorization, facts->session))
        return decide_sign_in(facts, ret_error);
    bool remembered = facts->consented && !authorization->prompt_consent;
    if (facts->allowed || remembered || !consent_is_due(authorization, facts->client, facts->mode))
        return FLOW_CODE;
    return authorization->prompt_none ? flow_fail(AZ_CONSENT_REQUIRED, ret_error) : FLOW_CONSENT;
}

/* True if the host is the domain or lies below it. */
static bool
is_within(const char *host, const char *domain)
{
    size_t length = strlen(host), wanted = strlen(domain);
    return length >= wanted && strcasecmp(host + length - wanted, domain) == 0
           && (length == wanted || host[length - wanted - 1] == '.');
}

/* True if alice@corp.example belongs to the provider: its idpId is corp.example, or its issuer is
 * in that domain. */
static bool
fits_domain(const struct identity_provider *provider, const char *domain)
{
    struct uri issuer;
    if (strcasecmp(provider->idp_id, domain) == 0)
        return true;
    TALLOC_CTX *scratch = talloc_new(NULL);
    bool fits = scratch != NULL && uri_parse(scratch, provider->issuer, &issuer) == AZ_OK
                && issuer.host != NULL && is_within(issuer.host, domain);
    talloc_free(scratch);
    return fits;
}

/* True if idp_hint names the provider. */
static bool
fits_name(const struct identity_provider *provider, const char *idp_id)
{
    return strcmp(provider->idp_id, idp_id) == 0;
}

static size_t
pick(const struct identity_providers *list,
     bool (*fits)(const struct identity_provider *provider, const char *hint), const char *hint,
     const struct identity_provider **ret)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->provider[i].enabled && (fits == NULL || fits(&list->provider[i], hint)))
            ret[count++] = &list->provider[i];
    return count;
}

size_t
flow_providers(const struct identity_providers *list, const struct authorization *authorization,
               const struct identity_provider **ret, bool *ret_hinted)
{
    const char *name = authorization->idp_hint;
    const char *domain =
        authorization->login_hint != NULL ? strrchr(authorization->login_hint, '@') : NULL;
    *ret_hinted = true;
    if (name != NULL && pick(list, fits_name, name, ret) == 1)
        return 1;
    /* A domain that fits two providers decides nothing. */
    if (domain != NULL && domain[1] != '\0' && pick(list, fits_domain, domain + 1, ret) == 1)
        return 1;
    *ret_hinted = false;
    return pick(list, NULL, NULL, ret);
}
