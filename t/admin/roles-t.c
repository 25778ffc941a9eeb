/* The routing table as a table of roles (gateway-admin.md 3.9): each row of the admin API states
 * one, and an auditor may use no method but GET, except where the request changes nothing. */
#include "config.h"

#include <string.h>

#include "admin/credential.h"
#include "http/route.h"
#include "tap.h"

/* Requests of an auditor that are no GET, and why they change nothing. */
static const struct {
    const char *operation, *reason;
} asks[] = {
    {"beginConsoleSession", "the key is the caller's own"                           },
    {"endConsoleSession",   "so is the session"                                     },
    {"inspectToken",        "it tells the facts of a token"                         },
    {"evaluatePolicy",      "it tries an input, or asks a stored question again"    },
    {"tryTool",             "its precheck refuses an auditor a call"                },
    {"measurePolicyImpact", "it decides recorded questions and saves nothing"       },
    {"deployPolicyBundle",  "its precheck refuses an auditor anything but a dry-run"},
};
#define ASKS (sizeof(asks) / sizeof(asks[0]))

/* Rows for owners alone: keys, whatever shows one, and what ends every token. */
static const char *const owners[] = {"createAdminKey",    "revokeAdminKey", "getAdminKeyPlaintext",
                                     "createConsoleLink", "rotateKeys",     "fenceAfterRestore"};
#define OWNERS (sizeof(owners) / sizeof(owners[0]))

static const char *
ask_reason(const char *operation)
{
    for (size_t i = 0; i < ASKS; i++)
        if (strcmp(asks[i].operation, operation) == 0)
            return asks[i].reason;
    return NULL;
}

static bool
is_owners(const char *operation)
{
    for (size_t i = 0; i < OWNERS; i++)
        if (strcmp(owners[i], operation) == 0)
            return true;
    return false;
}

static enum admin_role
role_of_rule(const struct route *row)
{
    if (is_owners(row->operation))
        return ADMIN_ROLE_OWNER;
    return strcmp(row->method, "GET") == 0 || ask_reason(row->operation) != NULL
               ? ADMIN_ROLE_AUDITOR
               : ADMIN_ROLE_OPERATOR;
}

int
main(void)
{
    size_t rows = 0, exceptions = 0;
    for (size_t i = 0; i < routes_count; i++) {
        const struct route *row = &routes[i];
        bool of_admin = row->credential == &credential_admin
                        || row->credential == &credential_session
                        || row->credential == &credential_sign_in;
        bool of_session = strcmp(row->path, "/admin/session") == 0;
        bool signs_in = strcmp(row->operation, "startConsoleSession") == 0; /* by a provider */
        is_int(of_admin, strncmp(row->path, "/admin/", 7) == 0 && !signs_in,
               "%s %s asks for an admin key if its path is below /admin/", row->method, row->path);
        if (!of_admin)
            continue;
        is_int(row->credential != &credential_admin, of_session,
               "... and custom.admin.deny is asked, unless it is about the session");
        rows++;
        exceptions += ask_reason(row->operation) != NULL || is_owners(row->operation);
        is_int(row->role, role_of_rule(row), "%s %s states its least role: %s", row->method,
               row->path, admin_role_word(role_of_rule(row)));
        ok(strcmp(row->method, "GET") == 0 || row->audited, "... and leaves an audit row if it is "
                                                            "no GET");
        is_int(row->cors, CORS_CLOSED, "... and no page of another origin may call it");
    }
    ok(rows > 70, "the admin API has %zu rows", rows);
    is_int(exceptions, ASKS + OWNERS, "each exception is a row");
    for (size_t i = 0; i < route_guards_count; i++)
        is_int(route_guards[i].role, ADMIN_ROLE_AUDITOR, "%s: an unknown path is 404 to each role",
               route_guards[i].path);
    return done();
}
