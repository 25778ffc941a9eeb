#include "config.h"

#include "gateway/mcp/tools/request_state.h"

#include <string.h>

#include "base/settings/settings.h"
#include "crypto/keyring.h"
#include "env.h"
#include "tap.h"

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    if (az->keyring == NULL)
        az->keyring = keyring_new(mem, "0123456789abcdef0123456789abcdef", "pepper");
    const struct stated_call call = {.subject = "ann",
                                     .client_id = "c",
                                     .resource = "github",
                                     .tool = "list",
                                     .arguments = env_json(mem, "{'a':1,'b':[2]}")};
    const char *state = request_state_make(&op, &call);
    ok(state != NULL && strncmp(state, "v1.", 3) == 0, "a state is made");
    ok(strstr(state, "ann") == NULL, "... that names nobody");
    ok(request_state_check(&op, state, &call), "... and is good for its call");
    struct stated_call other = call;
    other.arguments = env_json(mem, "{'b':[2],'a':1}");
    ok(request_state_check(&op, state, &other), "... in any order of its arguments");
    other.arguments = env_json(mem, "{'a':2,'b':[2]}");
    ok(!request_state_check(&op, state, &other), "other arguments");
    other = call;
    other.arguments = NULL;
    ok(!request_state_check(&op, state, &other), "no arguments");
    other = call;
    other.subject = "bob";
    ok(!request_state_check(&op, state, &other), "another person");
    other.subject = NULL;
    ok(!request_state_check(&op, state, &other), "no person");
    other = call;
    other.client_id = "d";
    ok(!request_state_check(&op, state, &other), "another client");
    other = call;
    other.tool = "delete";
    ok(!request_state_check(&op, state, &other), "another tool");
    other = call;
    other.resource = "gitlab";
    ok(!request_state_check(&op, state, &other), "another resource");

    op.now_ms += (REQUEST_STATE_SECONDS - 1) * 1000;
    ok(request_state_check(&op, state, &call), "the last second");
    op.now_ms += 1000;
    ok(!request_state_check(&op, state, &call), "expired");
    op.now_ms -= REQUEST_STATE_SECONDS * 1000;

    unsigned refused = 0;
    for (size_t i = 0; i < strlen(state); i++) {
        char *changed = talloc_strdup(mem, state);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        refused += !request_state_check(&op, changed, &call);
    }
    is_int(refused, (int64_t) strlen(state), "every changed character is noticed");
    ok(!request_state_check(&op, talloc_asprintf(mem, "%sA", state), &call), "one more");
    ok(!request_state_check(&op, talloc_strndup(mem, state, strlen(state) - 1), &call), "one less");
    ok(!request_state_check(&op, "", &call), "an empty text");
    ok(!request_state_check(&op, "v1..", &call), "an empty payload");
    talloc_free(mem);
    return done();
}
