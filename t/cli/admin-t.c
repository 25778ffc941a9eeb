/* Options of a verb become members of a body or parameters of a query, by a table. */
#include "config.h"

#include "cli/admin/admin.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/verbs.h"
#include "tap.h"

#define AT(member) offsetof(struct cli_choices, member)

static const struct admin_member members[] = {
    {AT(name),         "name",    ADMIN_TEXT  },
    {AT(scopes),       "scopes",  ADMIN_WORDS },
    {AT(previous_ttl), "ttl",     ADMIN_NUMBER},
    {AT(enable),       "enabled", ADMIN_TRUE  },
    {AT(disable),      "enabled", ADMIN_FALSE },
    {0,                NULL,      ADMIN_TEXT  },
};

/* Compare the body that the options become. */
static void
body_is(const struct cli_choices *choice, const char *wanted, const char *name)
{
    struct cli cli = {.mem = talloc_new(NULL), .choice = *choice};
    json_t *body = jsonx_own(cli.mem, json_object());
    ok(admin_fill(&cli, members, body), "%s", name);
    is_str(jsonx_dump(cli.mem, body), wanted, "... and the body is right");
    talloc_free(cli.mem);
}

static void
test_body(void)
{
    body_is(&(struct cli_choices){.name = NULL}, "{}", "no option is no member");
    body_is(&(struct cli_choices){.name = "a b"}, "{\"name\":\"a b\"}", "a text stays whole");
    body_is(&(struct cli_choices){.scopes = "a  b c "}, "{\"scopes\":[\"a\",\"b\",\"c\"]}",
            "words become a list");
    body_is(&(struct cli_choices){.scopes = " "}, "{\"scopes\":[]}", "no word is an empty list");
    body_is(&(struct cli_choices){.previous_ttl = "60"}, "{\"ttl\":60}", "digits are a number");
    body_is(&(struct cli_choices){.enable = true}, "{\"enabled\":true}", "a switch is true");
    body_is(&(struct cli_choices){.disable = true}, "{\"enabled\":false}", "or false");
    body_is(&(struct cli_choices){.name = "\xff"}, "{\"name\":\"?\"}", "no octet breaks the JSON");
}

static void
test_numbers(void)
{
    static const char *const wrong[] = {"", "1h", "-1", "+1", " 1", "1.5", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct cli cli = {.mem = talloc_new(NULL), .choice = {.previous_ttl = wrong[i]}};
        cli.path = talloc_strdup(cli.mem, "verb");
        json_t *body = jsonx_own(cli.mem, json_object());
        ok(!admin_fill(&cli, members, body), "'%s' is no number", wrong[i]);
        ok(json_object_size(body) == 0, "... and no member");
        talloc_free(cli.mem);
    }
}

static void
test_query(void)
{
    const struct cli cli = {.choice = {.name = "x"}};
    static const struct admin_member filters[] = {
        {AT(subject), "subjectId", ADMIN_TEXT},
        {AT(name),    "name",      ADMIN_TEXT},
        {0,           NULL,        ADMIN_TEXT},
    };
    struct query_pair pairs[ADMIN_MEMBERS_MAX];
    is_int((int64_t) admin_query(&cli, filters, pairs), 2, "each filter has a parameter");
    ok(pairs[0].value == NULL, "... without a value if it was not given");
    is_str(pairs[1].value, "x", "... with the value of its option");
}

/* Compare a binding after a change. */
static void
change_is(const char *binding, const char *words, bool remove, bool changed, const char *wanted)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *object, *given;
    jsonx_parse(mem, binding, strlen(binding), 4, &object, NULL);
    jsonx_parse(mem, words, strlen(words), 4, &given, NULL);
    ok(entitle_change(object, given, remove) == changed, "%s %s %s: %s", binding,
       remove ? "without" : "with", words, changed ? "a change" : "no change");
    is_str(jsonx_dump_sorted(mem, object), wanted, "... to %s", wanted);
    talloc_free(mem);
}

static void
test_entitle(void)
{
    change_is("{}", "{\"scopes\":[\"a\",\"b\",\"a\"]}", false, true, "{\"scopes\":[\"a\",\"b\"]}");
    change_is("{\"scopes\":[\"a\"]}", "{\"scopes\":[\"a\"]}", false, false, "{\"scopes\":[\"a\"]}");
    change_is("{\"scopes\":[\"a\"],\"ttl\":9}", "{\"grants\":[\"g\"]}", false, true,
              "{\"grants\":[\"g\"],\"scopes\":[\"a\"],\"ttl\":9}");
    change_is("{\"scopes\":[\"a\",\"b\"]}", "{\"scopes\":[\"a\"]}", true, true,
              "{\"scopes\":[\"b\"]}");
    change_is("{\"scopes\":[\"a\"]}", "{\"scopes\":[\"a\"]}", true, true, "{}");
    change_is("{\"scopes\":[\"a\"]}", "{\"grants\":[\"a\"]}", true, false, "{\"scopes\":[\"a\"]}");
    change_is("{\"scopes\":[\"ab\"]}", "{\"scopes\":[\"a\"]}", true, false,
              "{\"scopes\":[\"ab\"]}");
}

static void
test_escape(TALLOC_CTX *mem)
{
    is_str(call_escape(mem, "crm-1.a_b~"), "crm-1.a_b~", "unreserved characters stay");
    is_str(call_escape(mem, "a/b?c#d%e f"), "a%2Fb%3Fc%23d%25e%20f",
           "all others are escaped, so that a name stays one segment");
    is_str(call_escape(mem, "\xc3\xa9\r\n"), "%C3%A9%0D%0A", "and so are octets and line ends");
}

static void
test_table(void)
{
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = admin_verb_at(i)) != NULL; i++) {
        const struct admin_verb *row = (const struct admin_verb *) verb;
        size_t count = 0;
        for (const struct admin_member *at = row->members; at != NULL && at->name != NULL; at++)
            count++;
        ok(verb->run != NULL && verb->place == CLI_ANYWHERE, "%s: is a verb with --server",
           verb->words);
        ok(count < ADMIN_MEMBERS_MAX, "%s: has room for its members", verb->words);
        ok(strstr(row->path, "{}") == NULL || verb->minimum > 0, "%s: has an argument for its path",
           verb->words);
        ok(strcmp(row->method, "DELETE") != 0 || row->done != NULL,
           "%s: says what it did if the answer does not", verb->words);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_body();
    test_numbers();
    test_query();
    test_entitle();
    test_escape(mem);
    test_table();
    talloc_free(mem);
    return done();
}
