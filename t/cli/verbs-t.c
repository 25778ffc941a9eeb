/* The table of verbs holds together, and what is derived from it. */
#include "config.h"

#include <string.h>

#include "base/nearest.h"
#include "base/words.h"
#include "cli/help.h"
#include "cli/lib/cli.h"
#include "cli/lib/run.h"
#include "store/db/db.h"
#include "tap.h"

/* Longest help line: beside the column of names it shall not fill more than three lines. */
#define HELP_MAX 160

static bool
is_sentence(const char *text)
{
    return text != NULL && strlen(text) > 10 && strlen(text) <= HELP_MAX && text[0] >= 'A'
           && text[0] <= 'Z' && text[strlen(text) - 1] != '.';
}

static void
test_options(const char *owner, const struct cli_option *options)
{
    bool named = true, sorted = true, fits = true;
    for (const struct cli_option *row = options; row->name != NULL; row++) {
        named = named && is_sentence(row->help)
                && strspn(row->name, "abcdefghijklmnopqrstuvwxyz-") == strlen(row->name);
        fits = fits && row->offset < sizeof(struct cli_choices)
               && (row->argument != NULL || !row->required);
        sorted = sorted && (row == options || strcmp(row[-1].name, row->name) < 0);
    }
    ok(named, "%s: every option has a name and a help line", owner);
    ok(fits, "%s: every option has its place; required ones have a value", owner);
    ok(sorted, "%s: options are sorted, none is there twice", owner);
}

/* A verb's own option with a common one's name would hide it. */
static void
test_hiding(const struct cli_verb *verb)
{
    bool hidden = false;
    for (const struct cli_option *own = verb->options; own->name != NULL; own++)
        for (const struct cli_option *all = cli_options; all->name != NULL; all++)
            hidden = hidden || strcmp(own->name, all->name) == 0 || own->offset == all->offset
                     || (own->letter != 0 && own->letter == all->letter);
    ok(!hidden, "%s: hides no common option", verb->words);
}

/* -]` is one to two.|True if the help names as many upper-case words as the limits allow: `KEY
 * [FILE|-]` is one to two.|-]` is one to two. */
static bool
arguments_match(const struct cli_verb *verb)
{
    int needed = 0, optional = 0;
    for (const char *c = verb->arguments; *c != '\0'; c++) {
        if (c != verb->arguments && c[-1] != ' ')
            continue;
        needed += *c != '[';
        optional += *c == '[';
    }
    return needed == verb->minimum && needed + optional == verb->maximum
           && verb->maximum <= CLI_ARGUMENTS_MAX;
}

static bool
needs_are_settings(const struct cli_verb *verb)
{
    for (const char *const *name = verb->needs; name != NULL && *name != NULL; name++) {
        bool found = strcmp(*name, cli_needs_all[0]) == 0;
        for (const struct setting *row = settings_table; row->name != NULL; row++)
            found = found || strcmp(row->name, *name) == 0;
        if (!found)
            return false;
    }
    return true;
}

static void
test_verbs(TALLOC_CTX *mem)
{
    const struct cli_verb *all = cli_verbs(mem);
    for (const struct cli_verb *row = all; row->words != NULL; row++) {
        ok(is_sentence(row->help), "%s: has a help line", row->words);
        ok(row->run != NULL, "%s: has a handler", row->words);
        ok(arguments_match(row), "%s: usage and limits of arguments agree", row->words);
        ok(needs_are_settings(row), "%s: needs settings that exist", row->words);
        ok(row->place <= CLI_HOST || row->needs != NULL, "%s: has a database when it works on one",
           row->words);
        ok(row == all || strcmp(row[-1].words, row->words) < 0, "%s: sorted, not there twice",
           row->words);
        ok(row[1].words == NULL || !cli_below(row[1].words, row->words),
           "%s: is no noun of another verb", row->words);
        if (row->options != NULL) {
            test_options(row->words, row->options);
            test_hiding(row);
        }
    }
    test_options("authzctl", cli_options);
}

/* The verbs that ask, with the words that end or delete what cannot be taken back. What is restored
 * by another verb is not here: `bundle rollback` takes back each save of rules. */
static const char *const ending[] = {"admin-key revoke",
                                     "apply",
                                     "client delete",
                                     "client rotate-secret",
                                     "connector uninstall",
                                     "consent forget",
                                     "idp delete",
                                     "keys rotate",
                                     "policy data delete",
                                     "policy rule delete",
                                     "policy shadow drop",
                                     "policy shadow promote",
                                     "policy shadow set",
                                     "resource delete",
                                     "resource disconnect",
                                     "restore-fence",
                                     "session end",
                                     "token revoke",
                                     NULL};
static const char *const ending_words[] = {
    "delete",        "drop",       "revoke",        "forget",  "end",
    "uninstall",     "disconnect", "restore-fence", "promote", "rotate",
    "rotate-secret", "remove",     "purge",         "reset",   NULL};

/* A verb that is named as one that ends something asks, and so does each of the table. */
static void
test_ending(TALLOC_CTX *mem)
{
    const struct cli_choices all = {.prune = true, .replace = true}, plain = {.prune = false};
    size_t count = 0;
    for (const struct cli_verb *row = cli_verbs(mem); row->words != NULL; row++) {
        const char *last = strrchr(row->words, ' ');
        bool asks = run_ends(row, &all) != NULL, listed = words_has(ending, row->words);
        count += listed;
        ok(asks == listed, "%s: %s", row->words,
           listed ? "cannot be undone, and asks" : "asks nothing");
        ok(asks || !words_has(ending_words, last != NULL ? last + 1 : row->words),
           "%s: is not named as a verb that ends something, or asks", row->words);
        bool only_with =
            strcmp(row->words, "apply") == 0 || strcmp(row->words, "policy shadow set") == 0;
        if (listed)
            ok((run_ends(row, &plain) == NULL) == only_with, "%s: asks %s", row->words,
               only_with ? "with --prune or --replace alone" : "always");
    }
    is_int((int64_t) count, sizeof(ending) / sizeof(ending[0]) - 1, "each verb of the list exists");
}

static void
test_below(void)
{
    ok(cli_below("db migrate", ""), "a verb is below nothing");
    ok(cli_below("db migrate", "db"), "... below its noun");
    ok(cli_below("db migrate", "db migrate"), "... below itself");
    ok(!cli_below("db migrate", "d"), "... not below a piece of a word");
    ok(!cli_below("db migrate", "db mig"), "... nor of its own");
    ok(!cli_below("db", "db migrate"), "a noun is not below its verb");
}

static void
test_nearest(TALLOC_CTX *mem)
{
    static const char *const three[] = {"aaa", "aab", "aac", NULL};
    char long_word[66];
    memset(long_word, 'a', sizeof(long_word) - 1);
    long_word[sizeof(long_word) - 1] = '\0';
    is_int((int64_t) nearest_distance("", ""), 0, "distance of nothing");
    is_int((int64_t) nearest_distance("", "abc"), 3, "... to three letters");
    is_int((int64_t) nearest_distance("kitten", "sitting"), 3, "Levenshtein's own kind of example");
    is_int((int64_t) nearest_distance("sitting", "kitten"), 3, "... the other way round");
    ok(nearest_distance(long_word, "a") > 1000, "a word too long for a verb is near to none");
    is_str(nearest_words(mem, cli_words_below(mem, cli_verbs(mem), "db"), "statsu"), "'status'",
           "one is nearest");
    is_str(nearest_words(mem, cli_words_below(mem, cli_verbs(mem), "policy data"), "det"),
           "'get' or 'set'", "two are equally near");
    is_str(nearest_words(mem, three, "aax"), "'aaa', 'aab' or 'aac'", "three are equally near");
    is_str(nearest_words(mem, cli_words_below(mem, cli_verbs(mem), "db"), "qqqqqq"), NULL,
           "none is near");
    is_str(nearest_words(mem, three, "axx"), NULL, "two of three letters differ: not near");
    is_str(nearest_words(mem, cli_words_below(mem, cli_verbs(mem), ""), "manua"), NULL,
           "a hidden verb is not offered");
}

/* A near miss: one letter wrong, or one of three. */
static const struct {
    const char *below, *word, *near;
} hints[] = {
    {"",            "polcy",     "'policy'"   },
    {"",            "polizy",    "'policy'"   },
    {"",            "bundel",    "'bundle'"   },
    {"",            "key",       "'keys'"     },
    {"",            "confg",     "'config'"   },
    {"",            "admin_key", "'admin-key'"},
    {"",            "mantain",   "'maintain'" },
    {"bundle",      "histroy",   "'history'"  },
    {"bundle",      "depoly",    "'deploy'"   },
    {"config",      "chekc",     NULL         }, /* two of five letters */
    {"",            "users",     NULL         },
    {"",            "tomato",    NULL         },
    {"",            "status",    NULL         },
    {"",            "start",     NULL         },
    {"",            "migrate",   NULL         },
    {"",            "elephant",  NULL         },
    {"",            "x",         NULL         },
    {"",            "-",         NULL         },
    {"bundle",      "upload",    NULL         },
    {"bundle",      "list",      NULL         },
    {"bundle",      "push",      NULL         },
    {"policy data", "show",      NULL         },
    {"keys",        "create",    NULL         },
    {"config",      "validate",  NULL         },
    {"db",          "upgrade",   NULL         },
};

static void
test_hints(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        is_str(
            nearest_words(mem, cli_words_below(mem, cli_verbs(mem), hints[i].below), hints[i].word),
            hints[i].near, "authzctl %s %s: %s", hints[i].below, hints[i].word,
            hints[i].near != NULL ? "a near miss gets a hint" : "a far word gets none");
}

static void
test_words(TALLOC_CTX *mem)
{
    const char *const *words = cli_words_below(mem, cli_verbs(mem), "policy");
    is_str(words[0], "compare", "the words below a noun, in the order of the table");
    is_str(words[1], "data", "... a noun of two words once");
    is_str(words[2], "impact", "... and verbs");
    is_str(words[3], "rule", "... in the order of the table");
    is_str(words[4], "shadow", "... another noun of two words");
    is_str(words[5], "test", "... each of them");
    is_str(words[6], "try", "... all of them");
    ok(words[7] == NULL, "... and no more");
}

/* db status must not be refused for a rate limit, but must for a file that may hide the address. */
static void
test_problems(void)
{
    static const char *const database[] = {"SVC_DATABASE_URL", NULL};
    ok(run_problem_counts("SVC_DATABASE_URL: is wrong", database), "the setting that is needed");
    ok(run_problem_counts("/etc/a.conf:7: SVC_DATABASE_URL: is wrong", database), "... in a file");
    ok(!run_problem_counts("SVC_RATE_LIMIT_WINDOW: is wrong", database), "another setting");
    ok(!run_problem_counts("/etc/a.conf:7: SVC_RATE_LIMIT_WINDOW: is wrong", database),
       "... in a file");
    ok(run_problem_counts("SVC_RATE_LIMIT_WINDOW: is wrong", cli_needs_all),
       "... for a verb that needs all");
    ok(run_problem_counts("/etc/a.conf:7: unknown setting 'SVC_DATABSE_URL'; see", database),
       "an unknown name");
    ok(run_problem_counts("/etc/a.conf:7: the line is not NAME=VALUE; see", database),
       "a line that is none");
    ok(run_problem_counts("SVC_CONFIG: cannot read /x", database), "a file that cannot be read");
    ok(run_problem_counts("SVC_CONFIG: cannot read /SVC_LOG_LEVEL: No such file", database),
       "... whatever its name");
    ok(!run_problem_counts("SVC_AUDIT_RETENTION_DAYS: 1 days are shorter than SVC_DATABASE_URL; x",
                           database),
       "a problem belongs to the setting it begins with");
}

static void
test_addresses(void)
{
    static const char *const good[] = {"postgresql:///authz",
                                       "postgresql://u:p@h:1,i:2/d?target_session_attrs=primary",
                                       "host=/run dbname=a", ""};
    static const char *const bad[] = {"postgresql://h/d?nope=1", "host", "password=a b",
                                      "postgresql://[::1/d", "nope=1"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ok(db_url_fault(good[i]) == NULL, "libpq understands `%s`", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(db_url_fault(bad[i]) != NULL, "libpq does not understand `%s`", bad[i]);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_verbs(mem);
    test_ending(mem);
    test_below();
    test_nearest(mem);
    test_hints(mem);
    test_words(mem);
    test_problems();
    test_addresses();
    talloc_free(mem);
    return done();
}
