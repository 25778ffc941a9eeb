#include "config.h"

#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The audit outcome `denied` means that policy refused (decisions.md "Audited"). Codes that bad
 * requests get too are `rejected` here; token/issue.c writes `denied` when policy refused. */
/* clang-format off */
static const struct az_status_row rows[] = {
    {AZ_OK,                     200, "",                        "",                                     "allowed",  AZ_SEV_DEBUG},
    {AZ_INVALID,                400, "invalid_request",         "The request is malformed",             "rejected", AZ_SEV_INFO},
    {AZ_STALE,                  500, "server_error",            "Internal server error",                    "error",    AZ_SEV_ERROR},
    {AZ_RETRY,                  500, "server_error",            "Internal server error",                    "error",    AZ_SEV_ERROR},
    {AZ_SQL,                    500, "server_error",            "Internal server error",                    "error",    AZ_SEV_ERROR},
    {AZ_INVALID_REQUEST,        400, "invalid_request",         "The request is malformed",             "rejected", AZ_SEV_INFO},
    {AZ_INVALID_CLIENT,         401, "invalid_client",          "Client authentication failed",         "rejected", AZ_SEV_INFO},
    {AZ_INVALID_GRANT,          400, "invalid_grant",           "The grant is not valid",               "rejected", AZ_SEV_INFO},
    {AZ_UNAUTHORIZED_CLIENT,    400, "unauthorized_client",     "The client must not use this grant type",    "rejected", AZ_SEV_INFO},
    {AZ_UNSUPPORTED_GRANT_TYPE, 400, "unsupported_grant_type",  "The grant type is not supported",      "rejected", AZ_SEV_INFO},
    {AZ_INVALID_SCOPE,          400, "invalid_scope",           "The scope is not valid",               "rejected", AZ_SEV_INFO},
    {AZ_INVALID_TARGET,         400, "invalid_target",          "The resource is not valid",            "rejected", AZ_SEV_INFO},
    {AZ_INVALID_AUTHORIZATION_DETAILS, 400, "invalid_authorization_details", "The authorization details are not valid", "rejected", AZ_SEV_INFO},
    {AZ_UNSUPPORTED_RESPONSE_TYPE, 400, "unsupported_response_type", "response_type must be code",   "rejected", AZ_SEV_INFO},
    {AZ_LOGIN_REQUIRED,         400, "login_required",          "The user must sign in",              "rejected", AZ_SEV_INFO},
    {AZ_CONSENT_REQUIRED,       400, "consent_required",        "The user must give consent",           "rejected", AZ_SEV_INFO},
    {AZ_INTERACTION_REQUIRED,   400, "interaction_required",    "The user must take part",             "rejected", AZ_SEV_INFO},
    {AZ_ACCOUNT_SELECTION_REQUIRED, 400, "account_selection_required",
     "The user must choose an account", "rejected", AZ_SEV_INFO},
    {AZ_REQUEST_NOT_SUPPORTED,  400, "request_not_supported",   "The parameter request is not supported", "rejected", AZ_SEV_INFO},
    {AZ_REQUEST_URI_NOT_SUPPORTED, 400, "request_uri_not_supported", "The parameter request_uri is not supported", "rejected", AZ_SEV_INFO},
    {AZ_REGISTRATION_NOT_SUPPORTED, 400, "registration_not_supported", "The parameter registration is not supported", "rejected", AZ_SEV_INFO},
    {AZ_USER_DENIED,            400, "access_denied",           "The user denied the request",          "rejected", AZ_SEV_INFO},
    {AZ_INVALID_REDIRECT_URI,   400, "invalid_redirect_uri",    "A redirect_uri is not valid",          "rejected", AZ_SEV_INFO},
    {AZ_INVALID_CLIENT_METADATA, 400, "invalid_client_metadata", "The client metadata is not valid",   "rejected", AZ_SEV_INFO},
    {AZ_INVALID_SOFTWARE_STATEMENT, 400, "invalid_software_statement", "The software statement is not valid", "rejected", AZ_SEV_INFO},
    {AZ_UNAPPROVED_SOFTWARE_STATEMENT, 400, "unapproved_software_statement", "The software statement is not approved", "rejected", AZ_SEV_INFO},
    {AZ_AUTHORIZATION_PENDING,  400, "authorization_pending",   "The user has not answered yet",        "rejected", AZ_SEV_INFO},
    {AZ_SLOW_DOWN,              400, "slow_down",               "The interval between two polls has not passed; it is now longer", "rejected", AZ_SEV_INFO},
    {AZ_EXPIRED_TOKEN,          400, "expired_token",           "The auth_req_id has expired",          "rejected", AZ_SEV_INFO},
    {AZ_UNKNOWN_USER_ID,        400, "unknown_user_id",         "login_hint does not lead to a user",   "rejected", AZ_SEV_INFO},
    {AZ_INVALID_BINDING_MESSAGE, 400, "invalid_binding_message", "binding_message is not valid",        "rejected", AZ_SEV_INFO},
    {AZ_NOT_WAITING,            403, "access_denied",           "The request does not wait for this answer", "rejected", AZ_SEV_INFO},
    {AZ_INVALID_RESOURCE_ID,    400, "invalid_resource_id",     "The resource is not known",            "rejected", AZ_SEV_INFO},
    {AZ_ACCESS_DENIED,          400, "access_denied",           "Policy denied the request",            "denied",   AZ_SEV_INFO},
    {AZ_FORBIDDEN,              403, "access_denied",           "The client is not allowed to make this request",          "denied",   AZ_SEV_INFO},
    {AZ_INVALID_TOKEN,          401, "invalid_token",           "The access token is not valid",        "rejected", AZ_SEV_INFO},
    {AZ_INSUFFICIENT_SCOPE,     403, "insufficient_scope",      "The access token lacks a scope",       "rejected", AZ_SEV_INFO},
    {AZ_USE_DPOP_NONCE,         400, "use_dpop_nonce",          "The DPoP proof needs the nonce of the DPoP-Nonce header", "rejected", AZ_SEV_INFO},
    {AZ_DPOP_NONCE_NEEDED,      401, "use_dpop_nonce",          "The DPoP proof needs the nonce of the DPoP-Nonce header", "rejected", AZ_SEV_INFO},
    {AZ_UNAUTHORIZED,           401, "unauthorized",            "Valid admin API key required",         "rejected", AZ_SEV_INFO},
    {AZ_ROLE_REQUIRED,          403, "role_required",           "The role of the admin key does not allow this", "rejected", AZ_SEV_INFO},
    {AZ_FOREIGN_PAGE,           403, "foreign_page",            "A session accepts this only from a page of this service, with X-Authz-Console: 1 and Sec-Fetch-Site: same-origin", "rejected", AZ_SEV_WARN},
    {AZ_FOREIGN_NETWORK,        403, "foreign_network",         "This is not served to the network of the caller", "rejected", AZ_SEV_INFO},
    {AZ_PLAIN_HTTP,             403, "https_required",          "This service answers by https alone; change a secret that was sent by http", "rejected", AZ_SEV_INFO},
    {AZ_BUNDLE_UNAUTHORIZED,    401, "unauthorized",            "Valid bundle API key required",        "rejected", AZ_SEV_WARN},
    {AZ_INVALID_FIELDS,         400, "invalid_request",         "A field is not valid",                 "rejected", AZ_SEV_INFO},
    {AZ_NOT_FOUND,              404, "not_found",               "Not found",     "rejected", AZ_SEV_INFO},
    {AZ_METHOD_NOT_ALLOWED,     405, "invalid_request",         "Method not allowed",       "rejected", AZ_SEV_INFO},
    {AZ_UNSUPPORTED_METHOD_TYPE, 405, "unsupported_method_type", "Method not allowed",                 "rejected", AZ_SEV_INFO},
    {AZ_CONFLICT,               409, "conflict",                "It already exists",                    "rejected", AZ_SEV_INFO},
    {AZ_PROTECTED,              409, "protected",               "It is part of the program and cannot be changed",  "rejected", AZ_SEV_INFO},
    {AZ_SAVE_IN_PROGRESS,       409, "save_in_progress",        "Another policy save is running",       "rejected", AZ_SEV_INFO},
    {AZ_PRECONDITION_FAILED,    412, "precondition_failed",     "The stored content differs from If-Match", "rejected", AZ_SEV_INFO},
    {AZ_TOO_LARGE,              413, "invalid_request",         "The request is too large",             "rejected", AZ_SEV_INFO},
    {AZ_TARGET_TOO_LONG,        414, "invalid_request",         "The request target is too long",       "rejected", AZ_SEV_INFO},
    {AZ_MEDIA_TYPE,             415, "invalid_request",         "Content-Type must be application/json", "rejected", AZ_SEV_INFO},
    {AZ_UNPROCESSABLE,          422, "unprocessable",           "The content cannot be accepted",              "rejected", AZ_SEV_INFO},
    {AZ_TOO_MANY_REQUESTS,      429, "too_many_requests",       "Rate limit exceeded. Try again later.", "rejected", AZ_SEV_INFO},
    {AZ_SERVER_ERROR,           500, "server_error",            "Internal server error",                    "error",    AZ_SEV_ERROR},
    {AZ_UNAVAILABLE,            503, "temporarily_unavailable", "The service is temporarily unavailable", "error", AZ_SEV_ERROR},
    {AZ_PROVIDER_SETUP,         502, "server_error",
     "The sign-in at the identity provider is not set up correctly", "error", AZ_SEV_ERROR},
    {AZ_LINK_REQUIRED,          403, "link_required",           "The user must link an account of this resource first", "rejected", AZ_SEV_INFO},
    {AZ_APPROVAL_REQUIRED,      403, "approval_required",       "The user must approve this call first", "rejected", AZ_SEV_INFO},
    {AZ_USER_REQUIRED,          403, "user_required",           "This resource needs a token of a user", "rejected", AZ_SEV_INFO},
    {AZ_UPSTREAM_UNREACHABLE,   502, "upstream_unreachable",    "The upstream cannot be reached",       "error",    AZ_SEV_WARN},
    {AZ_UPSTREAM_AUTH,          502, "upstream_auth",           "The upstream refuses the credential of the gateway", "error", AZ_SEV_WARN},
    {AZ_UPSTREAM_INVALID,       502, "upstream_invalid_response", "The answer of the upstream is not valid", "error", AZ_SEV_WARN},
    {AZ_UPSTREAM_TIMEOUT,       504, "upstream_timeout",        "The upstream did not answer in time",  "error",    AZ_SEV_WARN},
    {AZ_RESOURCE_UNAVAILABLE,   503, "resource_unavailable",    "The resource is not ready",            "error",    AZ_SEV_WARN},
    {AZ_POLICY_UNAVAILABLE,     503, "policy_unavailable",      "Policy gave no decision",              "error",    AZ_SEV_ERROR},
    {AZ_LINK_INVALID,           400, "link_invalid",            "The link is not valid",                "rejected", AZ_SEV_INFO},
    {AZ_LINK_OTHER,             403, "link_subject_mismatch",   "This link belongs to another account", "rejected", AZ_SEV_WARN},
    {AZ_LINK_EXPIRED,           410, "link_expired",            "The time of this link is over",        "rejected", AZ_SEV_INFO},
    {AZ_BUSY,                   503, "temporarily_unavailable", "Too many requests are waiting for other servers; try again", "error", AZ_SEV_WARN},
    {AZ_IMPACT_IN_PROGRESS,     503, "impact_in_progress",      "Another measurement is running; try again when it has ended", "rejected", AZ_SEV_INFO},
    {AZ_IMPACT_UNAVAILABLE,     503, "impact_unavailable",      "The change cannot be measured now",           "error",    AZ_SEV_WARN},
};
/* clang-format on */

_Static_assert(sizeof(rows) / sizeof(rows[0]) == AZ_STATUS_COUNT, "one row per status");

const struct az_status_row *
az_status_row(enum az_status status)
{
    if ((unsigned) status >= AZ_STATUS_COUNT)
        status = AZ_SERVER_ERROR;
    return &rows[status];
}

/* RFC 6749 5.2: error_description is %x20-21 / %x23-5B / %x5D-7E. */
static void
sanitize(char *text)
{
    for (; *text != '\0'; text++)
        if (*text < 0x20 || *text > 0x7e || *text == '"' || *text == '\\')
            *text = '?';
}

enum az_status
az_fail(struct az_fault *fault, enum az_status status, const char *public_text, const char *detail,
        ...)
{
    if (fault->status != AZ_OK)
        return fault->status;
    fault->status = status;
    snprintf(fault->public_text, sizeof(fault->public_text), "%s",
             public_text != NULL ? public_text : az_status_row(status)->description);
    sanitize(fault->public_text);
    fault->detail[0] = '\0';
    if (detail != NULL) {
        va_list args;
        va_start(args, detail);
        vsnprintf(fault->detail, sizeof(fault->detail), detail, args);
        va_end(args);
    }
    return status;
}

enum az_status
az_fail_as(struct az_fault *fault, enum az_status status, const char *public_text)
{
    struct az_fault was = *fault;
    az_fault_clear(fault);
    return az_fail(fault, status, public_text != NULL ? public_text : was.public_text, "%s",
                   was.detail);
}

void
az_fault_clear(struct az_fault *fault)
{
    memset(fault, 0, sizeof(*fault));
}
