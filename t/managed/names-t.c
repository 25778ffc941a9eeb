/* Names of resources and tools, the filter of tools, and pins (gateway-admin.md 1.5, 3.2). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/canonical.h"
#include "managed/managed.h"
#include "managed/names.h"
#include "tap.h"

static void
names(TALLOC_CTX *mem)
{
    static const char *const good[] = {"a",   "7",    "github",
                                       "a-b", "mcp2", "abcdefghijklmnopqrstuvwxyz012345"},
                             *const bad[] = {
                                 "",    "mcp", "link",     "connect",
                                 "-a",  "a-",  "A",        "a_b",
                                 "a.b", "a/b", "\xc3\xa9", "abcdefghijklmnopqrstuvwxyz0123456"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ok(managed_name_is_good(good[i]), "%s names a resource", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(!managed_name_is_good(bad[i]), "'%s' does not", bad[i]);

    const char *long_tool =
        "a_tool_with_a_name_that_is_much_longer_than_any_client_would_accept_today";
    is_str(managed_exposed_name(mem, MANAGED_EXPOSED_MAX, "github", "list_issues"),
           "github__list_issues", "an exposed name joins with two underscores");
    is_str(managed_exposed_name(mem, MANAGED_EXPOSED_MAX, "slack", "chat.post/x"),
           "slack__chat_post_x", "... and has letters, digits, _ and - only");
    is_str(managed_exposed_name(mem, MANAGED_EXPOSED_MAX, NULL, "chat.post"), "chat_post",
           "one without its resource");
    const char *cut = managed_exposed_name(mem, MANAGED_EXPOSED_MAX, "github", long_tool);
    ok(strlen(cut) == MANAGED_EXPOSED_MAX, "a long name is cut to 64 characters");
    ok(strncmp(cut, "github__a_tool", 14) == 0 && cut[57] == '_', "... and ends with a digest");
    ok(strcmp(cut, managed_exposed_name(mem, MANAGED_EXPOSED_MAX, "github",
                                        "a_tool_with_a_name_that_is_much_longer_"
                                        "than_any_client_would_accept_later"))
           != 0,
       "... so that two long names stay two");
    char whole[MANAGED_EXPOSED_MAX - 8 + 1];
    memset(whole, 'x', sizeof(whole) - 1);
    whole[sizeof(whole) - 1] = '\0';
    ok(strlen(managed_exposed_name(mem, MANAGED_EXPOSED_MAX, "github", whole))
               == MANAGED_EXPOSED_MAX
           && strchr(managed_exposed_name(mem, MANAGED_EXPOSED_MAX, "github", whole), 'x') != NULL
           && managed_exposed_name(mem, MANAGED_EXPOSED_MAX, "github", whole)[57] == 'x',
       "limit: a name of 64 characters is not cut");
}

/* The names of a tool in lists and calls (world.md G6). */
static void
check_both_names(TALLOC_CTX *mem)
{
    const char *resource = "microsoft-365-calendar",
               *tool = "list_all_calendar_events_of_a_shared_mailbox";
    struct managed_names names, others;
    managed_names_make(mem, 48, resource, tool, &names);
    is_str(names.shown, "microsoft-365-calendar__list_all_calendar_ec0c22",
           "G6 name_48: cut to 41, _ and six digits");
    is_str(names.also, "microsoft-365-calendar__list_all_calendar_events_of_a_sha_ec0c22",
           "G6: ... and cut at 64 as before");
    for (size_t length = 48; length <= 49; length++) {
        char text[50] = "";
        memset(text, 'x', length);
        managed_names_make(mem, 48, NULL, text, &names);
        is_int(strlen(names.shown), 48, "G6: a name of %zu characters has 48", length);
        is_str(names.also, length == 48 ? NULL : text, "G6: ... and %s",
               length == 48 ? "no other" : "is called whole too");
    }
    managed_names_make(mem, 128, resource, tool, &names);
    is_int(strlen(names.shown), 68, "G6: a higher limit leaves it whole");
    is_int(strlen(names.also), 64, "G6: ... and the name cut at 64 is served");
    managed_names_make(mem, 44, "abcdefghijklmnopqrstuvwxyz012345", tool, &names);
    ok(strncmp(names.shown, "abcdefghijklmnopqrstuvwxyz012345__lis_", 38) == 0,
       "G6: 44 leave the longest name of a resource whole");
    managed_names_make(mem, 48, NULL, names.also, &others);
    managed_names_make(mem, 48, "abcdefghijklmnopqrstuvwxyz012345", tool, &names);
    ok(managed_names_clash(&names, &others) && managed_names_clash(&others, &names),
       "G6: a tool that has the other name of a tool clashes");
    managed_names_make(mem, 48, NULL, "other", &others);
    ok(!managed_names_clash(&names, &others) && !managed_names_clash(&others, &names),
       "... and another does not");
}

static void
filters(void)
{
    static const struct {
        const char *glob, *text;
        bool match;
    } rows[] = {
        {"list_*",  "list_issues", true },
        {"list_*",  "list_",       true },
        {"list_*",  "lists",       false},
        {"*",       "",            true },
        {"",        "",            true },
        {"",        "a",           false},
        {"*_issue", "get_issue",   true },
        {"*a*b*",   "xxaxxbxx",    true },
        {"*a*b",    "ab_ab_ba",    false},
        {"a?c",     "abc",         true },
        {"a?c",     "ac",          false},
        {"[a]",     "a",           false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ok(managed_glob(rows[i].glob, rows[i].text) == rows[i].match, "glob %s %s '%s'",
           rows[i].glob, rows[i].match ? "matches" : "does not match", rows[i].text);
    const char *const list[] = {"list_*", NULL}, *const issues[] = {"*_issues", NULL},
                      *const none[] = {NULL};
    ok(managed_filter(NULL, NULL, "x"), "without toolFilter every tool passes");
    ok(managed_filter(none, none, "x"), "... and with an empty one");
    ok(managed_filter(list, NULL, "list_issues"), "include lets its names pass");
    ok(!managed_filter(list, NULL, "get_issues"), "... and no others");
    ok(!managed_filter(list, issues, "list_issues"), "exclude wins");
}

static void
pins(TALLOC_CTX *mem)
{
    char a[MANAGED_PIN_SIZE], b[MANAGED_PIN_SIZE];
    json_t *tool = jsonx_own(mem, json_pack("{s:s,s:s,s:{s:s,s:i}}", "name", "t", "description",
                                            "d", "inputSchema", "type", "object", "x", 1));
    json_t *other = jsonx_own(mem, json_pack("{s:{s:i,s:s},s:s,s:s}", "inputSchema", "x", 1, "type",
                                             "object", "description", "d", "name", "t"));
    ok(managed_pin_hash(mem, tool, a) && managed_pin_hash(mem, other, b), "tools have pins");
    is_str(a, b, "a pin does not depend on the order of members");
    json_object_set_new(tool, "execution", json_object());
    managed_pin_hash(mem, tool, b);
    is_str(a, b, "... nor on members that are not pinned");
    static const char *const pinned[] = {
        "name", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta"};
    for (size_t i = 0; i < sizeof(pinned) / sizeof(pinned[0]); i++) {
        json_t *changed = jsonx_own(mem, json_deep_copy(tool));
        json_object_set_new(changed, pinned[i], json_string("changed"));
        managed_pin_hash(mem, changed, b);
        ok(strcmp(a, b) != 0, "a changed %s changes the pin (CVE-2025-54136)", pinned[i]);
    }
    ok(!managed_pin_hash(mem, NULL, b), "what is no object has none");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    names(mem);
    check_both_names(mem);
    filters();
    pins(mem);
    talloc_free(mem);
    return done();
}
