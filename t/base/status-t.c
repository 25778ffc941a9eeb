#include "config.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* The rows that callers rely on; status.h describes the rest of the table. */
/* clang-format off */
static const struct {
    enum az_status status;
    int http;
    const char *error, *rule;
} promised[] = {
    {AZ_STALE, 500, "server_error", "internal, must never reach a caller as anything else"},
    {AZ_RETRY, 500, "server_error", "internal"},
    {AZ_SQL, 500, "server_error", "internal"},
    {AZ_INVALID_REQUEST, 400, "invalid_request", "RFC 6749 5.2"},
    {AZ_INVALID_CLIENT, 401, "invalid_client", "RFC 6749 5.2"},
    {AZ_INVALID_GRANT, 400, "invalid_grant", "RFC 6749 5.2"},
    {AZ_UNAUTHORIZED_CLIENT, 400, "unauthorized_client", "RFC 6749 5.2"},
    {AZ_UNSUPPORTED_GRANT_TYPE, 400, "unsupported_grant_type", "RFC 6749 5.2"},
    {AZ_INVALID_SCOPE, 400, "invalid_scope", "RFC 6749 5.2"},
    {AZ_INVALID_TARGET, 400, "invalid_target", "RFC 8707 2"},
    {AZ_INVALID_AUTHORIZATION_DETAILS, 400, "invalid_authorization_details", "RFC 9396 5"},
    {AZ_ACCESS_DENIED, 400, "access_denied", "decisions.md \"Policy deny at /token\""},
    {AZ_FORBIDDEN, 403, "access_denied", "decisions.md \"Caller not entitled\""},
    {AZ_INVALID_TOKEN, 401, "invalid_token", "RFC 6750 3.1"},
    {AZ_UNAUTHORIZED, 401, "unauthorized", "specification 7.2"},
    {AZ_ROLE_REQUIRED, 403, "role_required", "gateway-admin.md 3.9"},
    {AZ_FOREIGN_PAGE, 403, "foreign_page", "gateway-admin.md 3.9"},
    {AZ_FOREIGN_NETWORK, 403, "foreign_network", "decisions.md \"Plain HTTP\""},
    {AZ_PLAIN_HTTP, 403, "https_required", "decisions.md \"Plain HTTP\""},
    {AZ_TOO_MANY_REQUESTS, 429, "too_many_requests", "specification 7.3"},
    {AZ_UNAVAILABLE, 503, "temporarily_unavailable", "decisions.md \"Engine down, slow or answering nonsense\""},
    {AZ_BUSY, 503, "temporarily_unavailable", "decisions.md \"Half of the pool fetches\""},
    {AZ_METHOD_NOT_ALLOWED, 405, "invalid_request", "oauth.md C1"},
    {AZ_TOO_LARGE, 413, "invalid_request", "oauth.md C7"},
    {AZ_MEDIA_TYPE, 415, "invalid_request", "oauth.md C2"},
};
/* clang-format on */

static bool
is_description(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text < 0x20 || *text > 0x7e || *text == '"' || *text == '\\')
            return false;
    return true;
}

static bool
is_outcome(const char *text)
{
    static const char *const outcomes[] = {"allowed", "denied", "rejected", "error"};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(outcomes[i], text) == 0)
            return true;
    return false;
}

static void
test_table(void)
{
    for (int i = 0; i < AZ_STATUS_COUNT; i++) {
        const struct az_status_row *row = az_status_row((enum az_status) i);
        ok(row->status == (enum az_status) i, "outcome %d has its own row", i);
        ok(row->http == (i == AZ_OK ? 200 : row->http) && row->http >= 200 && row->http < 600
               && (i == AZ_OK || row->http >= 400),
           "outcome %d: a failure has a status from 400 on", i);
        ok(is_description(row->description) && is_outcome(row->audit_outcome),
           "outcome %d: its texts are fit to be sent and stored", i);
        /* A full pool is not a failure: the client sends the request again. An upstream that fails
         * is not our failure, nor is a measurement that must wait or lacks an engine. */
        bool others = i == AZ_BUSY || (i >= AZ_UPSTREAM_UNREACHABLE && i <= AZ_RESOURCE_UNAVAILABLE)
                      || i == AZ_IMPACT_IN_PROGRESS || i == AZ_IMPACT_UNAVAILABLE;
        ok((row->http >= 500 && !others) == (row->severity == AZ_SEV_ERROR),
           "outcome %d: our failures, and no others, are errors in the log", i);
    }
    for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++) {
        const struct az_status_row *row = az_status_row(promised[i].status);
        is_int(row->http, promised[i].http, "%s is %d (%s)", promised[i].error, promised[i].http,
               promised[i].rule);
        is_str(row->error, promised[i].error, "... under this name");
    }
    static const enum az_status bad[] = {AZ_UNAUTHORIZED_CLIENT, AZ_INVALID_SCOPE,
                                         AZ_INVALID_TARGET, AZ_INVALID_AUTHORIZATION_DETAILS,
                                         AZ_INVALID_GRANT};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        is_str(az_status_row(bad[i])->audit_outcome, "rejected",
               "%s: a code that a bad request gets too does not mean that policy refused "
               "(decisions.md "
               "\"Audited\")",
               az_status_row(bad[i])->error);
    is_str(az_status_row(AZ_ACCESS_DENIED)->audit_outcome, "denied", "policy alone denies access");
    is_str(az_status_row(AZ_FORBIDDEN)->audit_outcome, "denied", "... and an entitlement");
    is_str(az_status_row(AZ_UNAUTHORIZED)->description, "Valid admin API key required",
           "the text of a missing admin key (specification 7.2)");
    is_str(az_status_row(AZ_TOO_MANY_REQUESTS)->description,
           "Rate limit exceeded. Try again later.",
           "the text of the rate limit (specification 7.3)");
    is_int(az_status_row((enum az_status) AZ_STATUS_COUNT)->http, 500,
           "one past the table is our failure");
    is_int(az_status_row((enum az_status) - 1)->http, 500, "... and so is a negative number");
    is_int(az_status_row((enum az_status) 100000)->http, 500, "... and a large one");
}

static void
test_fail(void)
{
    struct az_fault fault = {AZ_OK, "", ""};
    is_int(az_fail(&fault, AZ_INVALID_SCOPE, "No such scope", "scope %d of %s", 3, "crm"),
           AZ_INVALID_SCOPE, "az_fail returns its status");
    is_str(fault.public_text, "No such scope", "... keeps the public text");
    is_str(fault.detail, "scope 3 of crm", "... and the detail");
    is_int(az_fail(&fault, AZ_SERVER_ERROR, "later", "later"), AZ_INVALID_SCOPE,
           "a later failure does not hide the first one");
    is_str(fault.public_text, "No such scope", "... nor its text");
    is_str(fault.detail, "scope 3 of crm", "... nor its detail");
    az_fault_clear(&fault);
    ok(fault.status == AZ_OK && fault.public_text[0] == '\0' && fault.detail[0] == '\0',
       "a cleared fault holds nothing");
    az_fail(&fault, AZ_INVALID_CLIENT, NULL, NULL);
    is_str(fault.public_text, "Client authentication failed",
           "without a text the table's is taken");
    is_str(fault.detail, "", "... and there is no detail");
}

static void
test_sanitize(void)
{
    struct az_fault fault = {AZ_OK, "", ""};
    char all[256], wanted[256], longer[400];
    for (int c = 1; c < 256; c++) {
        all[c - 1] = (char) c;
        wanted[c - 1] = (char) (c < 0x20 || c > 0x7e || c == '"' || c == '\\' ? '?' : c);
    }
    all[255] = wanted[255] = '\0';
    az_fail(&fault, AZ_INVALID_REQUEST, all, NULL);
    is_str(fault.public_text, wanted,
           "of all octets exactly %%x20-21 / %%x23-5B / %%x5D-7E stay (RFC 6749 5.2)");
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    az_fault_clear(&fault);
    az_fail(&fault, AZ_INVALID_REQUEST, longer, "%s%s", longer, longer);
    is_int((int64_t) strlen(fault.public_text), sizeof(fault.public_text) - 1,
           "a longer public text is cut");
    is_int((int64_t) strlen(fault.detail), sizeof(fault.detail) - 1, "... and a longer detail");
}

static void
test_fail_as(void)
{
    struct az_fault fault = {.status = AZ_OK};
    az_fail(&fault, AZ_INVALID_CLIENT, "what was said", "what %s", "happened");
    is_int(az_fail_as(&fault, AZ_UNAUTHORIZED_CLIENT, NULL), AZ_UNAUTHORIZED_CLIENT,
           "a failure means something else to the caller: another status");
    is_int(fault.status, AZ_UNAUTHORIZED_CLIENT, "... which is recorded");
    is_str(fault.public_text, "what was said", "... with its text");
    is_str(fault.detail, "what happened", "... and the operator's");
    az_fail_as(&fault, AZ_UNAVAILABLE, "for this caller");
    is_str(fault.public_text, "for this caller", "... or with another text");
    is_str(fault.detail, "what happened", "... the operator's stays");
}

int
main(void)
{
    plan(0);
    test_table();
    test_fail();
    test_sanitize();
    test_fail_as();
    return done();
}
