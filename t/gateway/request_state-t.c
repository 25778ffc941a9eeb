#include "config.h"

#include "gateway/mcp/ask/request_state.h"

#include <string.h>

#include "base/settings/settings.h"
#include "crypto/keyring.h"
#include "env.h"
#include "tap.h"

static bool
is_good(struct op *op, const char *text, const struct stated_call *call)
{
    struct request_state state;
    return request_state_read(op, text, call, &state) == AZ_OK;
}

/* gateway-admin.md 1.12: a state is good for the call that it was made for. */
static void
test_bound(struct op *op, const char *state, const struct stated_call *call)
{
    TALLOC_CTX *mem = op->mem;
    struct stated_call other = *call;
    ok(is_good(op, state, call), "a state is good for its call");
    other.arguments = env_json(mem, "{'b':[2],'a':1}");
    ok(is_good(op, state, &other), "... in any order of its arguments");
    other.arguments = env_json(mem, "{'a':2,'b':[2]}");
    ok(!is_good(op, state, &other), "other arguments");
    other.arguments = NULL;
    ok(!is_good(op, state, &other), "no arguments");
    const struct {
        const char *name;
        size_t offset;
        const char *value;
    } cases[] = {
        {"another person",          offsetof(struct stated_call, person),    "bob"        },
        {"no person",               offsetof(struct stated_call, person),    NULL         },
        {"the same name elsewhere", offsetof(struct stated_call, idp),       "home"       },
        {"another client",          offsetof(struct stated_call, client_id), "d"          },
        {"another method",          offsetof(struct stated_call, method),    "prompts/get"},
        {"another resource",        offsetof(struct stated_call, resource),  "gitlab"     },
        {"another server there",    offsetof(struct stated_call, server),    "https://b/" },
        {"another tool",            offsetof(struct stated_call, name),      "delete"     },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        other = *call;
        memcpy((char *) &other + cases[i].offset, &cases[i].value, sizeof(cases[i].value));
        ok(!is_good(op, state, &other), "%s", cases[i].name);
    }
}

static void
test_contents(struct op *op, const struct stated_call *call)
{
    struct request_state state = {.round = 3,
                                  .questions = env_json(op->mem, "{'k':{'kind':'roots'}}"),
                                  .upstream = "of the \xc3\xbcpstream"},
                         read;
    const char *text = request_state_make(op, call, &state);
    ok(text != NULL && request_state_read(op, text, call, &read) == AZ_OK, "a state of a round");
    is_int(read.round, 3, "... its number");
    ok(json_object_get(read.questions, "k") != NULL, "... its questions");
    is_str(read.upstream, state.upstream, "... and the upstream's state, as it was");
    ok(read.own == NULL, "... and no question of ours");
    ok(strcmp(text, request_state_make(op, call, &state)) != 0, "another one of the same differs");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    if (az->keyring == NULL)
        az->keyring = keyring_new(mem, "0123456789abcdef0123456789abcdef", "pepper");
    const struct stated_call call = {.person = "ann",
                                     .idp = "corp",
                                     .client_id = "c",
                                     .method = "tools/call",
                                     .resource = "github",
                                     .server = "https://a/",
                                     .name = "list",
                                     .arguments = env_json(mem, "{'a':1,'b':[2]}")};
    const char *state =
        request_state_make(&op, &call, &(struct request_state){.own = "link_github"});
    struct request_state read;
    ok(state != NULL && strncmp(state, "v2.", 3) == 0, "a state is made");
    ok(request_state_read(&op, state, &call, &read) == AZ_OK && read.own != NULL
           && strcmp(read.own, "link_github") == 0 && read.round == 0,
       "... with the question of ours");
    test_bound(&op, state, &call);
    test_contents(&op, &call);

    op.now_ms += (REQUEST_STATE_SECONDS - 1) * 1000;
    ok(is_good(&op, state, &call), "the last second");
    op.now_ms += 1000;
    ok(!is_good(&op, state, &call), "expired");
    op.now_ms -= REQUEST_STATE_SECONDS * 1000;

    unsigned refused = 0;
    for (size_t i = 0; i < strlen(state); i++) {
        char *changed = talloc_strdup(mem, state);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        refused += !is_good(&op, changed, &call);
    }
    is_int(refused, (int64_t) strlen(state), "every changed character is noticed");
    ok(!is_good(&op, talloc_asprintf(mem, "%sA", state), &call), "one more");
    ok(!is_good(&op, talloc_strndup(mem, state, strlen(state) - 1), &call), "one less");
    ok(!is_good(&op, "", &call), "an empty text");
    ok(!is_good(&op, "v2.", &call), "an empty box");
    ok(!is_good(&op, "v1.AAAA.AAAA", &call), "a state of an older release");
    talloc_free(mem);
    return done();
}
