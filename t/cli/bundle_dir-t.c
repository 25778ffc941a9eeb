/* Reading a bundle's directory, finding the line an engine speaks of, and JSON text laid out anew.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/lib/dir.h"
#include "cli/lib/json_text.h"
#include "cli/policy/bundle_dir.h"
#include "cli/policy/refusal.h"
#include "tap.h"

static void
test_kinds(void)
{
    static const struct {
        const char *path;
        enum bundle_file kind;
    } rows[] = {
        {"a.rego",             BUNDLE_FILE_RULE    },
        {"custom/a.cedar",     BUNDLE_FILE_RULE    },
        {"data/a.rego",        BUNDLE_FILE_RULE    },
        {"README.rego",        BUNDLE_FILE_RULE    },
        {"a_test.rego",        BUNDLE_FILE_TEST    },
        {"data/a_test.rego",   BUNDLE_FILE_TEST    },
        {"_test.rego",         BUNDLE_FILE_RULE    }, /* the test of nothing */
        {"a_test.cedar",       BUNDLE_FILE_RULE    },
        {"data/a.b.json",      BUNDLE_FILE_DATA    },
        {"data/a/b.json",      BUNDLE_FILE_OTHER   },
        {"other/data/a.json",  BUNDLE_FILE_OTHER   },
        {"a.json",             BUNDLE_FILE_OTHER   },
        {"data/a.JSON",        BUNDLE_FILE_OTHER   },
        {"data/README.json",   BUNDLE_FILE_DATA    },
        {"bundle.json",        BUNDLE_FILE_SWITCHES},
        {"custom/bundle.json", BUNDLE_FILE_OTHER   },
        {"data/bundle.json",   BUNDLE_FILE_DATA    },
        {"README",             BUNDLE_FILE_README  },
        {"custom/README.md",   BUNDLE_FILE_README  },
        {"a.rego.orig",        BUNDLE_FILE_OTHER   },
        {"data.json",          BUNDLE_FILE_OTHER   },
        {"custom/a.manifest",  BUNDLE_FILE_OTHER   },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        is_int((int) bundle_file_kind(rows[i].path), (int) rows[i].kind, "what %s is",
               rows[i].path);
    ok(bundle_file_hidden(".a") && bundle_file_hidden("a/.b/c") && bundle_file_hidden("a/.b"),
       "a segment that begins with a dot is hidden");
    ok(!bundle_file_hidden("a.b/c.d") && !bundle_file_hidden("a"), "... a dot elsewhere is not");
}

static void
test_keys(TALLOC_CTX *mem)
{
    is_str(bundle_file_of_key(mem, "a.b"), "data/a.b.json", "the file of a key");
    is_str(bundle_key_of_file(mem, "data/a.b.json"), "a.b", "the key of a file");
    is_str(bundle_key_of_file(mem, "data/a.json.json"), "a.json", "... loses one ending");
}

static void
test_text_faults(void)
{
    is_int((int64_t) bundle_text_fault_line("", 0), 0, "an empty text is clean");
    is_int((int64_t) bundle_text_fault_line("a\nb\xc3\xa9", 5), 0, "... as is UTF-8");
    is_int((int64_t) bundle_text_fault_line("a\nb\xff\n", 5), 2, "odd octets in line 2");
    is_int((int64_t) bundle_text_fault_line("\n\n\0", 3), 3, "a NUL in line 3");
    is_int((int64_t) bundle_text_fault_line("\xc3\n", 2), 1, "a letter cut by the line's end");
}

static void
test_places(void)
{
    static const struct deploy_rule rules[] = {
        {"b.rego",   "x", true, NULL},
        {"a/b.rego", "x", true, NULL},
        {"c.rego",   "x", true, NULL},
    };
    static const struct deploy deploy = {.rule = rules, .rules = 3};
    static const struct {
        const char *message;
        int rule; /* -1: none */
        size_t row;
    } rows[] = {
        {"b.rego:3: x",                   0,  3 },
        {"a/b.rego:4: x",                 1,  4 },
        {"/a/b.rego:12: x",               1,  12},
        {"rego: (c.rego:1) and b.rego:2", 2,  1 }, /* the first place */
        {"c.rego:1: see a/b.rego:2",      2,  1 },
        {"lib/b.rego:3: x",               -1, 0 }, /* another rule, which was not given */
        {"x/a/b.rego:3: x",               -1, 0 },
        {"//b.rego:3: x",                 -1, 0 },
        {"at (/b.rego:3)",                0,  3 },
        {"error in c.rego:7",             2,  7 },
        {"xb.rego:3: x",                  -1, 0 },
        {"b.rego: x",                     -1, 0 },
        {"b.rego:0: x",                   -1, 0 },
        {"b.rego:x",                      -1, 0 },
        {"b.rego",                        -1, 0 },
        {"",                              -1, 0 },
        {"b.rego is bad, see b.rego:9:",  0,  9 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t rule = 99, row = 0;
        bool found = refusal_find(rows[i].message, &deploy, &rule, &row);
        ok(found == (rows[i].rule >= 0)
               && (!found || (rule == (size_t) rows[i].rule && row == rows[i].row)),
           "the place in `%s`", rows[i].message);
    }
}

static void
test_stored(TALLOC_CTX *mem)
{
    size_t row = 0;
    is_str(refusal_stored(mem, "lib/a b.rego:12: x", &row), "lib/a b.rego",
           "the rule that a message begins with");
    is_int((int64_t) row, 12, "... and the row");
    is_str(refusal_stored(mem, "a.rego.x/b.cedar:7: c.rego:1: x", &row), "a.rego.x/b.cedar",
           "a Cedar rule, though another is named behind it");
    is_int((int64_t) row, 7, "... and its row");
    ok(refusal_stored(mem, "a.rego:0: b.rego: x", &row) == NULL, "a row counts from 1");
    ok(refusal_stored(mem, "a/../b.rego:3: x", &row) == NULL, "what no rule can be called");
    ok(refusal_stored(mem, ".rego:3: x", &row) == NULL, "... neither");
    ok(refusal_stored(mem, "no place", &row) == NULL, "a message without a place");
}

static void
test_lines(void)
{
    static const struct {
        const char *text;
        size_t row, found;
        const char *line; /* NULL: none */
    } rows[] = {
        {"a\nb\nc",    2,        2, "b" },
        {"a\nb\nc",    3,        3, "c" },
        {"a\nb\nc\n",  4,        3, "c" },
        {"a\r\nb\r\n", 1,        1, "a" },
        {"a\n\nc",     2,        2, ""  },
        {"a",          SIZE_MAX, 1, "a" },
        {"a",          0,        0, NULL},
        {"",           1,        1, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t row = rows[i].row, length = 0;
        const char *line = refusal_line(rows[i].text, &row, &length);
        ok(rows[i].line == NULL
               ? line == NULL
               : line != NULL && row == rows[i].found && length == strlen(rows[i].line)
                     && memcmp(line, rows[i].line, length) == 0,
           "line %zu of text %zu", rows[i].row, i);
    }
}

static void
test_json_text(TALLOC_CTX *mem)
{
    static const char given[] = " { \"a\\\"}b\" : [ 1.10 ,2e5, { } , [\t] ] ,\"c\":\" , \" }\n";
    char *compact = json_text_compact(mem, given, 1000);
    is_str(compact, "{\"a\\\"}b\":[1.10,2e5,{},[]],\"c\":\" , \"}", "JSON without white space");
    char *pretty = json_text_pretty(mem, given, 1000);
    is_str(pretty,
           "{\n  \"a\\\"}b\": [\n    1.10,\n    2e5,\n    {},\n    []\n  ],\n  \"c\": \" , \"\n}\n",
           "... and with one member to a line");
    is_str(json_text_compact(mem, pretty, 1000), compact, "... and back");
    is_str(json_text_pretty(mem, "\"x\"", 4), "\"x\"\n", "a scalar that just fits");
    ok(json_text_pretty(mem, "\"x\"", 3) == NULL, "... and one octet less room");
    ok(json_text_compact(mem, "[1,2]", 4) == NULL, "... compact too");
}

/* Writing and reading below a directory. */
static void
test_files(TALLOC_CTX *mem, const char *place)
{
    int root = open(place, O_RDONLY | O_DIRECTORY);
    size_t length = 0;
    const char *why = "";
    is_int(dir_write(mem, root, "a/b/c.rego", "text", 4, &why), DIR_WRITTEN, "a file is made");
    is_int(dir_write(mem, root, "a/b/c.rego", "text", 4, &why), DIR_UNCHANGED,
           "... and left alone when it is the same");
    is_int(dir_write(mem, root, "a/b/c.rego", "longer text", 11, &why), DIR_WRITTEN,
           "... and replaced when it is not");
    is_int(dir_write(mem, root, "a/b/c.rego/d", "x", 1, &why), DIR_FAILED,
           "a file is no directory");
    is_int(dir_write(mem, root, "a/b", "x", 1, &why), DIR_FAILED, "a directory is no file");
    is_str(dir_read(mem, root, "a/b/c.rego", 11, &length, &why), "longer text",
           "a file of exactly the limit is read");
    ok(dir_read(mem, root, "a/b/c.rego", 10, &length, &why) == NULL
           && strcmp(why, "is too large") == 0,
       "... one octet more is refused");
    ok(dir_read(mem, root, "a", 10, &length, &why) == NULL, "a directory is not read");
    ok(dir_read(mem, root, "none", 10, &length, &why) == NULL, "... nor what is not there");
    ok(symlinkat("b", root, "a/link") == 0 && symlinkat("/etc/passwd", root, "passwd") == 0,
       "links are made");
    is_int(dir_write(mem, root, "a/link/x", "x", 1, &why), DIR_FAILED,
           "a link to a directory is not entered");
    ok(dir_read(mem, root, "passwd", 1 << 20, &length, &why) == NULL, "a link is not read");
    close(root);
}

static void
test_read(TALLOC_CTX *mem, const char *place)
{
    struct bundle_dir dir;
    ok(!bundle_dir_read(mem, place, &dir), "a directory with links is refused");
    is_int((int64_t) json_array_size(dir.faults), 2, "... each of them is told");
    ok(!bundle_dir_read(mem, "/nonexistent", &dir) && json_array_size(dir.faults) == 1,
       "a directory that is not there is one fault");
}

static void
remove_all(const char *place)
{
    static const char *const names[] = {"a/link", "a/b/c.rego", "a/b", "a", "passwd"};
    int root = open(place, O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (unlinkat(root, names[i], 0) != 0)
            unlinkat(root, names[i], AT_REMOVEDIR);
    close(root);
    is_int(rmdir(place), 0, "no other file was made");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char place[] = "/tmp/bundle_dir-t.XXXXXX";
    plan(0);
    test_kinds();
    test_keys(mem);
    test_text_faults();
    test_places();
    test_stored(mem);
    test_lines();
    test_json_text(mem);
    ok(mkdtemp(place) != NULL, "a directory");
    test_files(mem, place);
    test_read(mem, place);
    remove_all(place);
    talloc_free(mem);
    return done();
}
