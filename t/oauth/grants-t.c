#include "config.h"

#include "oauth/grants.h"

#include <string.h>

#include "oauth/token.h"
#include "tap.h"

static bool
lists(const char *const *types, const char *type)
{
    while (*types != NULL && strcmp(*types, type) != 0)
        types++;
    return *types != NULL;
}

/* The rules that every parameter of a row keeps. */
static void
test_params(const struct grant *grant)
{
    size_t count = 0;
    bool found = true, alike = true;
    for (const struct route_param *param = grant->params; param->name != NULL; param++) {
        const struct route_param *form = token_find_param(param->name);
        found = found && form != NULL;
        alike = alike && form != NULL && form->repeatable == param->repeatable
                && !(param->required && param->repeatable);
        count++;
    }
    ok(count <= GRANT_PARAMS_MAX, "%s: its parameters end within the row", grant->type);
    ok(found, "... each of them is accepted by POST /token");
    ok(alike, "... one that several grants have is repeatable in all of them or in none");
    ok(count > 0 && grant->issue != NULL, "... it has parameters and a function");
}

static void
test_table(TALLOC_CTX *mem)
{
    const char *const *types = grant_types(mem);
    for (size_t i = 0; i < grant_table_count; i++) {
        const struct grant *grant = &grant_table[i];
        test_params(grant);
        ok(grant_of_type(grant->type) == grant, "... no other row has its type");
        ok(lists(types, grant->type), "... discovery and registration have it");
    }
}

/* clang-format off */
static const struct { const char *name; bool accepted, repeatable; } params[] = {
    {"grant_type", true, false},
    {"client_id", true, false},
    {"client_secret", true, false},
    {"client_assertion", true, false},
    {"client_assertion_type", true, false},
    {"scope", true, false},
    {"resource", true, true},
    {"resource_types", true, false},
    {"authorization_details", true, false},
    {"code", true, false},
    {"redirect_uri", true, false},
    {"code_verifier", true, false},
    {"refresh_token", true, false},
    {"Scope", false, false},
    {"username", false, false},
    {"", false, false},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_table(mem);
    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        const struct route_param *form = token_find_param(params[i].name);
        ok((form != NULL) == params[i].accepted, "POST /token: parameter \"%s\"", params[i].name);
        ok(form == NULL || form->repeatable == params[i].repeatable, "... may be repeated or not");
    }
    ok(grant_of_type("password") == NULL && grant_of_type("CLIENT_CREDENTIALS") == NULL,
       "other grant types have no row");
    talloc_free(mem);
    return done();
}
