#include "config.h"

#include "policy/decide/console_role.h"

#include <string.h>

#include "tap.h"

#define ENTRY(role, claim, values)                                                                 \
    "{\"idp\":\"corp\",\"claim\":\"" claim "\",\"values\":" values ",\"role\":\"" role "\"}"

/* clang-format off */
static const struct { const char *people, *claims; enum admin_role role; const char *name; } cases[] = {
    {"[]", "{\"groups\":[\"a\"]}", ADMIN_ROLE_NONE, "a row without entries"},
    {"[" ENTRY("auditor", "groups", "[\"a\"]") "]", "{\"groups\":[\"b\",\"a\"]}", ADMIN_ROLE_AUDITOR, "a value of a list"},
    {"[" ENTRY("owner", "dept", "[\"x\",\"it\"]") "]", "{\"dept\":\"it\"}", ADMIN_ROLE_OWNER, "a text"},
    {"[" ENTRY("owner", "g", "[\"a\"]") "," ENTRY("auditor", "g", "[\"a\"]") "]", "{\"g\":\"a\"}", ADMIN_ROLE_OWNER, "the highest role, whatever the order"},
    {"[" ENTRY("auditor", "g", "[\"a\"]") "," ENTRY("operator", "g", "[\"a\"]") "]", "{\"g\":\"a\"}", ADMIN_ROLE_OPERATOR, "... the other way round"},
    {"[" ENTRY("owner", "g", "[\"a\"]") "]", "{\"g\":\"A\"}", ADMIN_ROLE_NONE, "another case of letters"},
    {"[" ENTRY("owner", "g", "[\"a\"]") "]", "{\"g\":[\"ab\",1,null,[\"a\"],{\"a\":\"a\"}]}", ADMIN_ROLE_NONE, "values that only contain it"},
    {"[" ENTRY("owner", "g", "[\"true\",\"1\"]") "]", "{\"g\":true}", ADMIN_ROLE_NONE, "a boolean"},
    {"[" ENTRY("owner", "g", "[\"true\",\"1\"]") "]", "{\"g\":1}", ADMIN_ROLE_NONE, "a number"},
    {"[" ENTRY("owner", "g", "[\"a\"]") "]", "{}", ADMIN_ROLE_NONE, "no such claim"},
    {"[" ENTRY("owner", "g", "\"a\"") "]", "{\"g\":\"a\"}", ADMIN_ROLE_NONE, "values that are no list"},
    {"[" ENTRY("root", "g", "[\"a\"]") "]", "{\"g\":\"a\"}", ADMIN_ROLE_NONE, "another role"},
    {"[{\"idp\":\"other\",\"claim\":\"g\",\"values\":[\"a\"],\"role\":\"owner\"}]", "{\"g\":\"a\"}", ADMIN_ROLE_NONE, "another provider"},
    {"[{\"claim\":\"g\",\"values\":[\"a\"],\"role\":\"owner\"}]", "{\"g\":\"a\"}", ADMIN_ROLE_NONE, "an entry without provider"},
    {"[{\"idp\":\"corp\",\"values\":[\"a\"],\"role\":\"owner\"}]", "{\"g\":\"a\"}", ADMIN_ROLE_NONE, "an entry without claim"},
    {"[" ENTRY("owner", "email", "[\"a@b\"]") "]", "{\"email\":\"a@b\"}", ADMIN_ROLE_NONE, "an address of which the provider says nothing"},
    {"[" ENTRY("owner", "email", "[\"a@b\"]") "]", "{\"email\":\"a@b\",\"email_verified\":\"true\"}", ADMIN_ROLE_NONE, "... says true as a text"},
    {"[" ENTRY("owner", "email", "[\"a@b\"]") "]", "{\"email\":\"a@b\",\"email_verified\":true}", ADMIN_ROLE_OWNER, "... that it is verified"},
    {"{}", "{\"g\":\"a\"}", ADMIN_ROLE_NONE, "people that are no list"},
};
/* clang-format on */

int
main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *people = json_loads(cases[i].people, 0, NULL);
        json_t *row = json_pack("{s:o}", "people", people);
        json_t *claims = json_loads(cases[i].claims, 0, NULL);
        ok(row != NULL && claims != NULL && console_role(row, "corp", claims) == cases[i].role,
           "role of a person: %s (gateway-admin.md 3.9)", cases[i].name);
        json_decref(row);
        json_decref(claims);
    }
    json_t *row = json_loads("{\"people\":[" ENTRY("auditor", "g", "[\"a\"]") "]}", 0, NULL);
    ok(console_role(NULL, "corp", NULL) == ADMIN_ROLE_NONE, "no row: no role");
    ok(console_role(row, "corp", NULL) == ADMIN_ROLE_NONE, "no claims: no role");
    ok(console_role_concerns(row, "corp"), "the row gives roles to people of this provider");
    ok(!console_role_concerns(row, "other") && !console_role_concerns(NULL, "corp"),
       "... and of no other one");
    json_decref(row);
    return done();
}
