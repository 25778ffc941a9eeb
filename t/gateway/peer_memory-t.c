#include "config.h"

#include "gateway/mcp/peer/peer_memory.h"

#include <string.h>

#include "env.h"
#include "gateway/process/gateway_process.h"
#include "gateway/upstream/credential.h"
#include "managed/managed.h"
#include "tap.h"

static const struct upstream_caller ann = {.person = "ann", .idp = "corp", .client_id = "c"};
static const struct upstream_caller bob = {.person = "bob", .idp = "corp", .client_id = "c"};
static const struct upstream_caller other_ann = {.person = "ann", .idp = "home", .client_id = "c"};
static const struct upstream_caller other_client = {
    .person = "ann", .idp = "corp", .client_id = "d"};

static void
test_sessions(struct op *op)
{
    const struct managed_resource resource = {.name = "r", .upstream_url = "https://u.example"};
    const struct managed_resource moved = {.name = "r", .upstream_url = "https://v.example"};
    char version[] = "2025-11-25", session[] = "of ann";
    const struct peer_way old = {.version = version, .session = session};
    struct peer_way way;
    ok(!peer_memory_find(op, &resource, &ann, "", &way), "nothing is known at first");
    peer_memory_keep(op, &resource, &ann, "", &old);
    memset(version, 'x', strlen(version));
    memset(session, 'x', strlen(session));
    ok(peer_memory_find(op, &resource, &ann, "", &way), "a session is remembered");
    is_str(way.session, "of ann", "... for the person");
    is_str(way.version, "2025-11-25", "... with its version");
    const struct upstream_caller *others[] = {&bob, &other_ann, &other_client, NULL};
    for (size_t i = 0; i < 4; i++) {
        ok(peer_memory_find(op, &resource, others[i], "", &way), "another caller knows the server");
        ok(way.session == NULL && way.version == NULL && !way.modern,
           "... and never gets the session of the first");
    }
    ok(!peer_memory_find(op, &moved, &ann, "", &way), "another address is another server");
    ok(peer_memory_find(op, &resource, &ann, "{\"sampling\":{}}", &way) && way.session == NULL,
       "a session that was told of other capabilities is another one");
    op->now_ms += (PEER_MEMORY_SECONDS - 1) * 1000;
    ok(peer_memory_find(op, &resource, &ann, "", &way), "the last second");
    op->now_ms += 1000;
    ok(!peer_memory_find(op, &resource, &ann, "", &way), "after that it is forgotten");
    peer_memory_keep(op, &resource, &ann, "", &(struct peer_way){.version = "2025-06-18"});
    peer_memory_forget(op, &resource, &ann, "");
    ok(!peer_memory_find(op, &resource, &ann, "", &way), "it can be forgotten earlier");
}

static void
test_modern(struct op *op)
{
    const struct managed_resource resource = {.name = "m", .upstream_url = "https://u.example"};
    const struct peer_way modern = {.modern = true};
    struct peer_way way;
    peer_memory_keep(op, &resource, &ann, "", &modern);
    ok(peer_memory_find(op, &resource, &bob, "", &way) && way.modern,
       "a modern server is one for everybody");
}

static void
test_room(struct op *op)
{
    const struct peer_way modern = {.modern = true};
    struct peer_way way;
    unsigned known = 0;
    for (size_t i = 0; i < 3 * PEER_MEMORY_ENTRIES; i++) {
        struct managed_resource resource = {.name = talloc_asprintf(op->mem, "r%zu", i),
                                            .upstream_url = "https://u.example"};
        op->now_ms += 1000;
        peer_memory_keep(op, &resource, NULL, "", &modern);
        known += peer_memory_find(op, &resource, NULL, "", &way);
    }
    is_int(known, 3 * PEER_MEMORY_ENTRIES, "the newest always has room");
    const struct managed_resource first = {.name = "r0", .upstream_url = "https://u.example"};
    ok(!peer_memory_find(op, &first, NULL, "", &way), "... and the oldest made it");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    test_sessions(&op);
    test_modern(&op);
    test_room(&op);
    talloc_free(az->gateway->peers);
    talloc_free(mem);
    return done();
}
