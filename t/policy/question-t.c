/* The questions to the engine if memory runs out at any point: complete, or not asked at all. */
#include "config.h"

#include "policy/decide/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "env.h"
#include "tap.h"

/* More allocations than a question takes. */
#define ALLOCATIONS 600

static long left = -1; /* allocations until one fails; below 0 none does */

static void *
scarce_malloc(size_t size)
{
    if (left == 0) {
        left = -1;
        return NULL;
    }
    left -= left > 0;
    return malloc(size);
}

static const struct client client = {
    .client_id = "c",
    .type = "confidential",
    .registration = "STATEMENT",
    .software_id = "s",
    .statement = "{\"iss\":\"i\",\"grants\":[7],\"scope\":7}",
    .enabled = true,
};
static const struct question frame = {
    .endpoint = "/token",
    .ip = "192.0.2.1",
    .user_agent = "test",
    .client = &client,
    .auth_method = "client_secret_basic",
};

static json_t *
ask_issue(struct op *op, json_t *words)
{
    const struct issue_question question = {
        .frame = frame,
        .grant_type = "client_credentials",
        .default_ttl = 1,
        .subject_id = "c",
        .resource = "https://r.example",
        .resource_types = words,
        .scopes = words,
    };
    return question_issue(op, &question);
}

static json_t *
ask_introspect(struct op *op, json_t *words)
{
    const struct introspect_question question = {
        .frame = frame,
        .caller = &client,
        .caller_method = "client_secret_basic",
        .token = words,
        .baseline = words,
        .context = words,
        .issued = words,
    };
    return question_introspect(op, &question);
}

/* A user as subject, with all members. */
static json_t *
ask_user(struct op *op, json_t *words)
{
    const struct question_user user = {
        .iss = "https://idp.example",
        .idp = "corp",
        .acr = "urn:loa:2",
        .amr = words,
        .auth_time = 1795172300,
        .claims = words,
    };
    const struct issue_question question = {
        .frame = frame,
        .grant_type = "authorization_code",
        .default_ttl = 1,
        .subject_id = "alice",
        .user = &user,
        .scopes = words,
        .ceiling = words,
    };
    return question_issue(op, &question);
}

static json_t *
ask_service(struct op *op, json_t *words)
{
    const struct introspect_question question = {
        .frame = frame,
        .caller = &client,
        .service = true,
        .caller_method = "none",
        .caller_token = words,
        .token = words,
        .baseline = words,
        .context = words,
        .issued = words,
    };
    return question_introspect(op, &question);
}

/* The members about the subject and the caller. */
static void
test_members(struct az *az)
{
    struct op op = env_op(talloc_new(NULL), az);
    json_t *words = json_pack("{s:b}", "service", 1);
    json_t *made = ask_user(&op, words);
    is_str(jsonx_dump(op.mem, json_object_get(made, "subject")),
           "{\"type\":\"user\",\"id\":\"alice\",\"iss\":\"https://idp.example\",\"idp\":\"corp\","
           "\"acr\":\"urn:loa:2\",\"amr\":{\"service\":true},\"auth_time\":1795172300,"
           "\"claims\":{\"service\":true}}",
           "a user as subject (policy.md 6.2)");
    made = ask_issue(&op, words);
    is_str(json_string_value(json_object_get(made, "evaluation")), "issue",
           "an issuance says so (policy.md 6.2)");
    const struct issue_question preview = {
        .frame = frame, .preview = true, .subject_id = "alice", .scopes = words};
    made = question_issue(&op, &preview);
    is_str(json_string_value(json_object_get(made, "evaluation")), "preview",
           "... and so does a preview (decisions.md \"Early gate\")");
    made = ask_issue(&op, words);
    is_str(jsonx_dump(op.mem, json_object_get(made, "subject")),
           "{\"type\":\"client\",\"id\":\"c\"}", "a client as subject");
    made = ask_service(&op, words);
    is_str(jsonx_dump(op.mem, json_object_get(made, "caller")),
           "{\"service\":true,\"client_id\":\"c\"}",
           "the service as caller says no more, whatever else is set");
    made = ask_introspect(&op, words);
    ok(json_object_get(json_object_get(made, "caller"), "service") == NULL,
       "a client as caller is never the service, whatever the context says");
    ok(json_object_get(made, "delegation") == NULL,
       "without delegations there is no such member (policy.md 6.2)");
    struct introspect_question delegated = {.frame = frame, .caller = &client, .context = words};
    delegated.frame.delegation = words;
    made = question_introspect(&op, &delegated);
    ok(json_equal(json_object_get(made, "delegation"), words),
       "delegations are shown at introspection (policy.md 6.5)");
    struct issue_question exchange = {.frame = delegated.frame, .subject_id = "c", .scopes = words};
    made = question_issue(&op, &exchange);
    ok(json_equal(json_object_get(made, "delegation"), words), "... and at issuance");
    json_decref(words);
    talloc_free(op.mem);
}

/* Fail each allocation in turn. */
static void
test_scarce(struct az *az, json_t *(*ask)(struct op *, json_t *), const char *name)
{
    char *whole = NULL;
    long refused = 0, cut = 0, same = 0;
    for (long n = -1; n < ALLOCATIONS; n++) {
        struct op op = env_op(talloc_new(NULL), az);
        json_t *words = json_pack("{s:s,s:s}", "a", "b", "subject", "x");
        left = n;
        json_t *made = ask(&op, words);
        left = -1;
        const char *text = made != NULL ? jsonx_dump(op.mem, made) : NULL;
        if (n < 0)
            whole = text != NULL ? strdup(text) : NULL;
        else if (text == NULL)
            refused++;
        else if (whole != NULL && strcmp(text, whole) == 0)
            same++;
        else
            cut++;
        json_decref(words);
        talloc_free(op.mem);
    }
    ok(whole != NULL && strstr(whole, "\"statement\"") != NULL, "%s: a whole question", name);
    ok(refused > 50, "%s: memory that ends is seen (%ld times)", name, refused);
    ok(same > 0, "%s: and enough memory is enough", name);
    is_int(cut, 0, "%s: no question lacks a member: a rule would not cut", name);
    free(whole);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    struct az *az = env_az(mem);
    struct settings *cfg = env_settings(az);
    cfg->oidc_issuer = "https://as.example";
    az->cfg = cfg;
    json_set_alloc_funcs(scarce_malloc, free);
    test_scarce(az, ask_issue, "issue");
    test_scarce(az, ask_introspect, "introspect");
    test_scarce(az, ask_user, "user");
    test_scarce(az, ask_service, "service");
    test_members(az);
    talloc_free(mem);
    return done();
}
