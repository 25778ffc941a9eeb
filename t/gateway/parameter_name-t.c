/* Names of parameters that frameworks take for one (gateway-admin.md 3.2 "Parameters"). */
#include "config.h"

#include "gateway/parameter_name.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *a, *b;
    bool same;
    const char *rule;
} pairs[] = {
    {"role", "role",             true,  "a name"},
    {"role", "role[]",           true,  "a list (PHP, Rails)"},
    {"role", "role[0]",          true,  "... with an index (Express)"},
    {"role", "role[ 12 ]",       true,  "... with blanks around it (PHP)"},
    {"role[]", "role[7]",        true,  "two items of a list"},
    {"role", "[role]",           true,  "a name in brackets (Express)"},
    {"role", "[role][]",         true,  "... of a list"},
    {"role", "%ROLE",            false, "another first letter"},
    {"role", "ROLE",             true,  "letters of another case (ASP.NET)"},
    {"role", "Role[]",           true,  "... of a list"},
    {"role", " role",            true,  "a blank before it (PHP)"},
    {"role", "role\t",           true,  "a tab behind it"},
    {"user_role", "user.role",   true,  "a dot for an underscore (PHP)"},
    {"user_role", "user role",   true,  "a blank for an underscore (PHP)"},
    {"user_role", "user[role",   true,  "an open bracket for an underscore (PHP)"},
    {"user_role", "user[role]",  false, "a member"},
    {"a[b]", "a[b]c",            true,  "what stands behind a closed bracket (PHP)"},
    {"a[b]", "a[b].c",           true,  "... with a dot"},
    {"a[b]", "a[bc]",            false, "another member"},
    {"page", "page[size]",       true,  "a name and a member of it"},
    {"a[b]", "a[b][c]",          true,  "... of a member"},
    {"a[0][id]", "a[1][id]",     true,  "a member of two items"},
    {"page[size]", "page[number]", false, "two members (JSON:API)"},
    {"page[size]", "page[SIZE]", true,  "... in another case"},
    {"role", "roles",            false, "a longer name"},
    {"role", "rol",              false, "a shorter one"},
    {"role", "role-",            false, "another character at the end"},
    {"role", "role[",            true,  "a bracket that is open: nobody knows what it is"},
    {"role", "",                 false, "no name"},
};

static const struct {
    const char *name, *plain;
} names[] = {
    {"role", "role"}, {"userId", "userId"}, {"page[size]", "page[size]"}, {"a.b", "a.b"}, {"", ""},
    {"role[]", "role"}, {"role[01]", "role"}, {"a[0][b]", "a[b]"}, {" a ", "a"}, {"[a]", "a"}, {"[]", ""}, {"[a]b]", "ab]"},
    {"a[1x]", "a[1x]"}, {"a]", "a]"}, {" ", ""}, {"[a][b]", "a[b]"}, {"[", ""},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        is_str(parameter_name_plain(mem, names[i].name), names[i].plain, "plain: \"%s\"",
               names[i].name);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const char *a = parameter_name_plain(mem, pairs[i].a);
        const char *b = parameter_name_plain(mem, pairs[i].b);
        ok(parameter_name_is_same(a, b) == pairs[i].same, "\"%s\" and \"%s\" are %s: %s",
           pairs[i].a, pairs[i].b, pairs[i].same ? "one" : "two", pairs[i].rule);
        ok(parameter_name_is_same(b, a) == pairs[i].same, "... in the other order");
    }
    talloc_free(mem);
    return done();
}
