/* What a Cedar rule names although the service has no such thing (policy.md 6.5), by the shipped
 * schema. */
#include "config.h"

#include "policy/rows/cedar_unknown.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *text, *fault, *note, *name;
} cases[] = {
    {"forbid (principal == Client::\"shop\", action, resource);", NULL, NULL, "a type of the service"},
    {"forbid (principal == Clinet::\"shop\", action, resource);",
     "a.cedar:1:22: there is no entity of the type Clinet; did you mean 'Client'?", NULL, "a type with a slip"},
    {"forbid (principal is Clinet, action, resource);",
     "a.cedar:1:19: there is no entity of the type Clinet; did you mean 'Client'?", NULL, "... behind is"},
    {"forbid (principal, action, resource) when { [Clinet::\"a\", Clinet::\"b\"].contains(principal) };",
     "a.cedar:1:46: there is no entity of the type Clinet; did you mean 'Client'?", NULL, "... in a set, once"},
    {"permit (principal == user::\"alice\", action, resource);", NULL,
     "a.cedar:1:22: the type user is not User: it can only come from an access request (AuthZEN)", "another case of letters"},
    {"permit (principal, action, resource == Photo::\"1\");", NULL,
     "a.cedar:1:40: the service has no entity of the type Photo: it can only come from an access request (AuthZEN)", "a type of others"},
    {"permit (principal in Group::\"staff\", action, resource);", NULL, NULL, "a type of a row"},
    {"forbid (principal, action == Action::\"introspect\", resource);", NULL, NULL, "an action"},
    {"forbid (principal, action in [Action::\"issue:access_token:refresh_token\"], resource);", NULL, NULL, "... of a token"},
    {"forbid (principal, action == Action::\"issue:scope:orders\", resource);", NULL, NULL, "... of a scope"},
    {"forbid (principal, action == Action::\"gateway:refund\", resource);", NULL, NULL, "... of the gateway"},
    {"forbid (principal, action == Action::\"can_update\", resource);", NULL, NULL, "... of an access request"},
    {"forbid (principal, action == Action::\"todo:update\", resource);", NULL, NULL, "... with a colon"},
    {"forbid (principal, action in Action::\"edit\", resource);", NULL, NULL, "... of a row"},
    {"forbid (principal, action == Action::\"isue:scope:orders\", resource);",
     "a.cedar:1:30: there is no action \"isue:scope:orders\"; did you mean one that begins with 'issue'?", NULL, "an action with a slip"},
    {"forbid (principal, action == Action::\"issue:scopes:orders\", resource);",
     "a.cedar:1:30: there is no action \"issue:scopes:orders\"; those of a token are \"issue:scope:<scope>\" and \"issue:access_token:<grant type>\"",
     NULL, "... behind the first colon"},
    {"forbid (principal, action == Action::\"issue:access_token:client_credential\", resource);",
     "a.cedar:1:30: there is no action \"issue:access_token:client_credential\"; did you mean 'issue:access_token:client_credentials'?",
     NULL, "... in the grant type"},
    {"forbid (principal, action == Action::\"introspection\", resource);",
     "a.cedar:1:30: there is no action \"introspection\"; did you mean 'introspect'?", NULL, "... introspection"},
    {"forbid (principal, action, resource) when { context.svc.endpoint == \"/token\" && context.svc.client.id == \"a\" };", NULL, NULL,
     "members of context.svc"},
    {"forbid (principal, action, resource) when { context.svc.endpont == \"/token\" };",
     "a.cedar:1:57: context.svc has no member endpont; did you mean 'endpoint'?", NULL, "a member with a slip"},
    {"forbid (principal, action, resource) when { context.svc has endpont };",
     "a.cedar:1:57: context.svc has no member endpont; did you mean 'endpoint'?", NULL, "... behind has"},
    {"forbid (principal, action, resource) when { context has svc.client.idd };",
     "a.cedar:1:53: this member of context.svc has no member idd; did you mean 'id'?", NULL, "... further down"},
    {"forbid (principal, action, resource) when { context.svc[\"password\"] == \"x\" };",
     "a.cedar:1:57: context.svc has no member password; doc/cedar.md 3 lists them", NULL, "... unlike any"},
    {"forbid (principal, action, resource) when { context.endpoint == \"/token\" };", NULL,
     "a.cedar:1:53: context.endpoint is what a caller sends; what the service knows is context.svc.endpoint", "a member without svc"},
    {"forbid (principal, action, resource) when { context.arguments.amount > 5 && principal.level > 3 };", NULL, NULL, "members of others"},
    {"forbid (", NULL, NULL, "a rule that cannot be parsed"},
};
/* clang-format on */

/* What has no effect in a mode of the service (doc/cedar.md 2). */
static void
test_modes(TALLOC_CTX *mem, struct cedar_known known)
{
#define BOTH "permit (principal, action, resource);\nforbid (principal, action, resource);"
#define PERMIT "a.cedar:1:1: a permit has no effect while cedar_mode is "
#define ROW " (svc.operator.controls.authzen)"
    static const struct {
        const char *mode, *notes[3];
    } modes[] = {
        {"guard",  {PERMIT "guard" ROW "; with source, it permits access requests (AuthZEN)", NULL}},
        {"source", {NULL}                                                                          },
        {"off",
         {PERMIT "off" ROW "; with source, it permits access requests (AuthZEN)",
          "a.cedar:2:1: a forbid has no effect while cedar_mode is off" ROW, NULL}                 },
        {NULL,     {NULL}                                                                          },
    };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        json_t *faults = jsonx_own(mem, json_array()), *notes = jsonx_own(mem, json_array());
        known.mode = modes[i].mode;
        ok(cedar_unknown_find(mem, &known, "a.cedar", BOTH, faults, notes), "the mode %s",
           known.mode != NULL ? known.mode : "is not known");
        ok(json_array_size(faults) == 0, "... no fault");
        for (size_t k = 0; k < 2; k++)
            is_str(json_string_value(json_array_get(notes, k)), modes[i].notes[k],
                   "... what has no effect");
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    static const char *const rows[] = {"[{\"uid\": {\"type\": \"User\", \"id\": \"a\"}, "
                                       "\"parents\": [{\"type\": \"Group\", \"id\": \"b\"}]}, "
                                       "{\"uid\": {\"type\": \"Action\", \"id\": \"edit\"}}]"};
    const char *source = getenv("srcdir");
    char *path =
        talloc_asprintf(mem, "%s/etc/policy/" CEDAR_SCHEMA_FILE, source != NULL ? source : ".");
    const struct cedar_known known = {
        .schema = jsonx_own(mem, json_load_file(path, 0, NULL)), .row = rows, .rows = 1};
    plan(0);
    ok(known.schema != NULL, "the shipped schema: %s", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *faults = jsonx_own(mem, json_array()), *notes = jsonx_own(mem, json_array());
        ok(cedar_unknown_find(mem, &known, "a.cedar", cases[i].text, faults, notes), "unknown: %s",
           cases[i].name);
        is_str(json_string_value(json_array_get(faults, 0)), cases[i].fault, "... the fault");
        is_str(json_string_value(json_array_get(notes, 0)), cases[i].note, "... the note");
        ok(json_array_size(faults) <= 1 && json_array_size(notes) <= 1, "... once");
    }
    test_modes(mem, known);
    talloc_free(mem);
    return done();
}
