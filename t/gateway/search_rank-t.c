#include "config.h"

#include "gateway/mcp/tools/search_rank.h"

#include <string.h>

#include "env.h"
#include "tap.h"

#define TOOLS_MAX 8

/* Tools of a search; the order is that of their names. */
struct set {
    struct managed_resource resource;
    struct managed_tool row[TOOLS_MAX];
    struct mcp_tool tool[TOOLS_MAX];
    const struct mcp_tool *each[TOOLS_MAX];
    size_t count;
};

static void
add_tool(TALLOC_CTX *mem, struct set *set, const char *name, const char *description,
         const char *argument)
{
    size_t i = set->count++;
    set->row[i] = (struct managed_tool){
        .name = name,
        .description = description,
        .input_schema = env_json(mem, talloc_asprintf(mem, "{'properties':{'%s':{}}}",
                                                      argument != NULL ? argument : "x")),
    };
    set->tool[i] = (struct mcp_tool){&set->resource, &set->row[i], name, NULL};
    set->each[i] = &set->tool[i];
}

/* Return the names that a query finds, with commas. */
static const char *
found(TALLOC_CTX *mem, const struct set *set, const char *query)
{
    struct rank_hit *hits;
    char *names = talloc_strdup(mem, "");
    size_t count = rank_tools(mem, query, set->each, set->count, &hits);
    for (size_t i = 0; i < count; i++)
        names = talloc_asprintf_append(names, "%s%s", i > 0 ? "," : "", hits[i].tool->name);
    return names;
}

/* clang-format off */
static const struct {
    const char *query, *wanted;
    const char *name;
} queries[] = {
    {"issue",             "createIssue,list_issues,comment", "the name counts most, and a plural is the same word"},
    {"Issues",            "createIssue,list_issues,comment", "... in any case"},
    {"create",            "createIssue",                     "a word of a name in camel case"},
    {"repository",        "delete_repo,list_issues",         "a word of the description"},
    {"branch",            "delete_repo",                     "the name of an argument"},
    {"repo",              "delete_repo,list_issues",         "a word that begins another"},
    {"re",                "",                                "... from three letters on"},
    {"delete the issue",  "delete_repo,createIssue,list_issues,comment", "the rare word counts more"},
    {"tracker",           "comment,createIssue,delete_repo,list_issues", "the resource: equals are in their order"},
    {"weather",           "",                                "a word that no tool has"},
    {"",                  "",                                "no word"},
    {"!?* --",            "",                                "no letters"},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct set set = {.resource = {.name = "tracker"}};
    add_tool(mem, &set, "comment", "Say something about an issue.", NULL);
    add_tool(mem, &set, "createIssue", "Open one.", NULL);
    add_tool(mem, &set, "delete_repo", "Remove a repository for ever.", "branch");
    add_tool(mem, &set, "list_issues", "Show all of a repository.", NULL);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        is_str(found(mem, &set, queries[i].query), queries[i].wanted, "%s", queries[i].name);

    /* A query of more words than count, and one word of many octets. */
    char *many = talloc_strdup(mem, "");
    for (size_t i = 0; i < 2 * RANK_TERMS_MAX; i++)
        many = talloc_asprintf_append(many, "word%zux ", i);
    is_str(found(mem, &set, talloc_asprintf(mem, "issue %s", many)),
           "createIssue,list_issues,comment", "words beyond the most");
    is_str(found(mem, &set, talloc_asprintf(mem, "%s issue", many)), "",
           "... do not count, also if they come last");
    char *wide = talloc_zero_array(mem, char, 1001);
    memset(wide, 'w', 1000);
    is_str(found(mem, &set, wide), "", "a word of a thousand letters");
    add_tool(mem, &set, wide, NULL, NULL);
    set.row[4].name = set.tool[4].name = wide;
    ok(strcmp(found(mem, &set, wide), wide) == 0, "... finds the tool that has it");
    set.count = 0;
    is_str(found(mem, &set, "issue"), "", "no tools");
    talloc_free(mem);
    return done();
}
