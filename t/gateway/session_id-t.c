/* Ids of sessions of older clients: of one person, client and endpoint, until their time is over
 * (MCP 2025-11-25, transports, "Session Management"; gateway-admin.md 1.13). */
#include "config.h"

#include "gateway/mcp/message/session_id.h"

#include <string.h>

#include "crypto/keyring.h"
#include "env.h"
#include "http/request.h"
#include "oauth/own_token.h"
#include "tap.h"

static const char *named;

static const char *
variable(const struct http_io *io, const char *name)
{
    (void) io;
    return strcmp(name, MCP_SESSION_VARIABLE) == 0 ? named : NULL;
}

static const struct http_io io = {.variable = variable};

/* Return whether the session that a request names stands at a time. */
static bool
stands(struct request *req, const struct gateway_access *visit, int64_t now)
{
    struct mcp_session session;
    req->op.now_ms = now * 1000;
    return mcp_session_read(req, &session) == AZ_OK
           && mcp_session_stands(&req->op, &session, visit);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct request req = {.op = env_op(mem, az), .io = &io};
    struct own_token token = {
        .lookup.row = {.subject = "ann", .idp = "corp", .client.client_id = "host"}
    };
    struct gateway_access visit = {.token = &token};
    const int64_t now = 1700000000;
    if (az->keyring == NULL)
        az->keyring = keyring_new(mem, "0123456789abcdef0123456789abcdef", "pepper");
    req.op.now_ms = now * 1000;
    named = mcp_session_make(&req.op, &visit, NULL, "2025-11-25");
    ok(named != NULL && stands(&req, &visit, now), "a session stands");
    ok(stands(&req, &visit, now + MCP_SESSION_SECONDS - 1), "... for a day, to its last second");
    ok(!stands(&req, &visit, now + MCP_SESSION_SECONDS), "... and not a second more");
    ok(!stands(&req, &visit, now + 10 * MCP_SESSION_SECONDS), "... nor later");
    visit.name = "one";
    ok(!stands(&req, &visit, now), "another endpoint");
    visit.name = NULL;
    token.lookup.row.subject = "bob";
    ok(!stands(&req, &visit, now), "another person");
    token.lookup.row.subject = "ann";
    token.lookup.row.client.client_id = "other";
    ok(!stands(&req, &visit, now), "another client");
    talloc_free(mem);
    return done();
}
