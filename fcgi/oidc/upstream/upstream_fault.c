#include "config.h"

#include "oidc/upstream/upstream_fault.h"

#include <stdio.h>
#include <string.h>

#include "metrics/metrics.h"
#include "store/people/provider_faults.h"

/* Longest part of a provider's error, and of its words, that the log keeps, in octets. */
#define ERROR_LOG_MAX 64
#define DESCRIPTION_LOG_MAX 256

#define REFUSED "The user or the identity provider refused the sign-in"

static const char *const codes[UPSTREAM_FAULTS] = {
    [UPSTREAM_CLIENT_REFUSED] = "client_refused",
    [UPSTREAM_REDIRECT_REFUSED] = "redirect_refused",
    [UPSTREAM_SCOPE_REFUSED] = "scope_refused",
    [UPSTREAM_REQUEST_REFUSED] = "request_refused",
    [UPSTREAM_ISSUER_OTHER] = "issuer_other",
    [UPSTREAM_USERINFO_REFUSED] = "userinfo_refused",
    [UPSTREAM_USERINFO_UNUSABLE] = "userinfo_unusable",
    [UPSTREAM_ENCRYPTED] = "encrypted",
    [UPSTREAM_ID_TOKEN_TOO_LARGE] = "id_token_too_large",
    [UPSTREAM_NO_AUTH_TIME] = "no_auth_time",
    [UPSTREAM_CLAIMS_INCOMPLETE] = "claims_incomplete",
    [UPSTREAM_SECRET_ENDED] = "secret_ended",
};

/* Error codes of providers (world.md W4). What is not listed refuses our request. */
/* clang-format off */
static const struct {
    const char *error;
    enum az_status status;
    enum upstream_fault fault; /* of AZ_PROVIDER_SETUP */
} errors[] = {
    {"login_required",             AZ_LOGIN_REQUIRED,             0},
    {"interaction_required",       AZ_INTERACTION_REQUIRED,       0},
    {"consent_required",           AZ_CONSENT_REQUIRED,           0},
    {"account_selection_required", AZ_ACCOUNT_SELECTION_REQUIRED, 0},
    {"access_denied",              AZ_USER_DENIED,                0},
    {"user_cancelled_authorize",   AZ_USER_DENIED,                0}, /* Apple */
    {"user_cancelled_login",       AZ_USER_DENIED,                0}, /* LinkedIn */
    {"temporarily_unavailable",    AZ_UNAVAILABLE,                0},
    {"server_error",               AZ_UNAVAILABLE,                0},
    {"invalid_client",             AZ_PROVIDER_SETUP,             UPSTREAM_CLIENT_REFUSED},
    {"unauthorized_client",        AZ_PROVIDER_SETUP,             UPSTREAM_CLIENT_REFUSED},
    {"invalid_scope",              AZ_PROVIDER_SETUP,             UPSTREAM_SCOPE_REFUSED},
    /* Google */
    {"redirect_uri_mismatch",      AZ_PROVIDER_SETUP,             UPSTREAM_REDIRECT_REFUSED},
    {"invalid_redirect_uri",       AZ_PROVIDER_SETUP,             UPSTREAM_REDIRECT_REFUSED},
};
/* clang-format on */

const char *
upstream_fault_code(enum upstream_fault fault)
{
    return codes[fault];
}

void
upstream_fault_note(struct op *op, const struct identity_provider *provider, const char *code)
{
    struct op beside = op_beside(op, op->mem);
    provider_fault_note(&beside, provider->id, code);
    metrics_add(op->az->metrics, METRIC_PROVIDER_FAULTS, 0, &code);
}

enum az_status
upstream_setup_fault(struct op *op, const struct identity_provider *provider,
                     enum upstream_fault fault, const char *said)
{
    char public_text[128];
    op->provider_fault = codes[fault];
    snprintf(public_text, sizeof(public_text),
             "The sign-in at the identity provider is not set up correctly: %s", codes[fault]);
    return op_fail(op, AZ_PROVIDER_SETUP, public_text, "identity provider %s (%s): %s",
                   provider->idp_id, codes[fault], said);
}

enum az_status
upstream_untimed(struct op *op, const struct identity_provider *provider)
{
    return op_fail(op, AZ_LOGIN_REQUIRED,
                   "The identity provider does not tell when the person signed in",
                   "identity provider %s sends no auth_time (%s)", provider->idp_id,
                   codes[UPSTREAM_NO_AUTH_TIME]);
}

enum az_status
upstream_error(struct op *op, const struct identity_provider *provider, const char *where,
               const char *error, const char *text)
{
    enum az_status status = AZ_PROVIDER_SETUP;
    enum upstream_fault fault = UPSTREAM_REQUEST_REFUSED;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strcmp(errors[i].error, error) == 0) {
            status = errors[i].status;
            fault = errors[i].fault;
        }
    if (strcmp(error, "invalid_client") == 0 && provider->secret_ends != 0
        && provider->secret_ends <= op_now(op))
        fault = UPSTREAM_SECRET_ENDED;
    const char *said = talloc_asprintf(op->mem, "%s: %.*s: %.*s", where, ERROR_LOG_MAX, error,
                                       DESCRIPTION_LOG_MAX, text != NULL ? text : "");
    if (said == NULL)
        return op_no_memory(op);
    if (status == AZ_PROVIDER_SETUP)
        return upstream_setup_fault(op, provider, fault, said);
    const char *public_text = status == AZ_USER_DENIED   ? REFUSED
                              : status == AZ_UNAVAILABLE ? UPSTREAM_NOT_REACHED
                                                         : NULL;
    return op_fail(op, status, public_text, "identity provider %s: %s", provider->idp_id, said);
}
