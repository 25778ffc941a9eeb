#include "config.h"

#include "policy/rows/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* ---- paths (specification 2.4, policy.md 2.3) ---- */

static const struct {
    const char *path;
    bool good;
    const char *name;
} paths[] = {
    {"a.rego",            true,  "a name alone"                          },
    {"a/b/c.cedar",       true,  "a Cedar rule in folders"               },
    {"a.b/c d-e_f.rego",  true,  "dots, blanks and signs in segments"    },
    {"...rego",           true,  "dots before the suffix"                },
    {"gr\xc3\xbc\xc3\x9f"
     "e.rego",       true,  "letters beyond ASCII"                  },
    {"x.manifest/a.rego", true,  "a folder like a file of the engine"    },
    {"",                  false, "empty"                                 },
    {"/a.rego",           false, "absolute"                              },
    {"a//b.rego",         false, "with an empty segment"                 },
    {"a.rego/",           false, "with a slash at its end"               },
    {"./a.rego",          false, "with the segment ."                    },
    {"../a.rego",         false, "with the segment .."                   },
    {"a/../b.rego",       false, "with .. between"                       },
    {"a\\b.rego",         false, "with a backslash"                      },
    {"a\nb.rego",         false, "with a line break"                     },
    {"a\x7f.rego",        false, "with DEL"                              },
    {"a\xff.rego",        false, "that is no UTF-8"                      },
    {"a\xc0\xaf.rego",    false, "with an overlong slash"                },
    {"a",                 false, "without a suffix"                      },
    {"a.REGO",            false, "with another case of the suffix"       },
    {"a.rego.txt",        false, "with another suffix"                   },
    {".rego",             false, "that is the suffix alone"              },
    {"a/.cedar",          false, "whose name is the suffix alone"        },
    {"data.json",         false, "that the engine reads as data"         },
    {"a/data.yaml",       false, "that the engine reads as data, in YAML"},
    {".manifest",         false, "that is the manifest"                  },
    {"a/x.manifest",      false, "that the engine reads as a manifest"   },
    {"policy.wasm",       false, "that the engine reads as a module"     },
    {".signatures.json",  false, "that holds the bundle's signatures"    },
};

static void
test_paths(void)
{
    char longest[RULE_PATH_MAX + 2];
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        ok((rule_path_fault(paths[i].path) == NULL) == paths[i].good, "path %s: %s (policy.md 2.3)",
           paths[i].good ? "taken" : "refused", paths[i].name);
    memset(longest, 'a', sizeof(longest));
    strcpy(longest + RULE_PATH_MAX - 5, ".rego");
    ok(rule_path_fault(longest) == NULL, "path of 512 octets: taken (specification 2.4)");
    strcpy(longest + RULE_PATH_MAX - 4, ".rego");
    ok(rule_path_fault(longest) != NULL, "path of 513: refused");
    is_str(rule_kind("a.rego"), "rego", "kind: .rego is Rego (decisions.md \"Cedar rules\")");
    is_str(rule_kind("a.cedar"), "cedar", "kind: .cedar is Cedar");
    is_str(rule_kind("cedar.rego"), "rego", "kind: by the suffix alone");
    ok(rule_path_is_ours("svc/a.rego"), "svc/ is ours (decisions.md \"Namespace\")");
    ok(rule_path_is_ours("svc.rego"), "so is the file svc.rego");
    ok(!rule_path_is_ours("svcs/a.rego"), "svcs/ is not");
    ok(!rule_path_is_ours("a/svc/a.rego"), "svc further down is not");
}

/* ---- packages ---- */

#define NONE RULE_PACKAGE_NONE
#define UNREAD RULE_PACKAGE_UNREAD

/* A name, or NULL with the reason. */
static const struct {
    const char *content, *name;
    enum rule_package other;
} packages[] = {
  /* blanks, comments and what begins the file */
    {"package a",                         "a",                 0     },
    {"package a.b",                       "a.b",               0     },
    {"package svc",                       "svc",               0     },
    {"\xef\xbb\xbfpackage svc",           "svc",               0     },
    {" \t\r\n package svc.x\n",           "svc.x",             0     },
    {"# package a\npackage svc",          "svc",               0     },
    {"#\rpackage a\npackage svc",         "svc",               0     },
    {"#a#\n\n  #b\n\tpackage svc\n",      "svc",               0     },
    {"package\tsvc",                      "svc",               0     },
    {"package\nsvc",                      "svc",               0     },
    {"package\r\n\r\nsvc",                "svc",               0     },
    {"package#a\nsvc",                    "svc",               0     },
    {"package # a\n # b\n svc.x",         "svc.x",             0     },
    {"package svc#.a",                    "svc",               0     },
    {"package svc # x",                   "svc",               0     },
    {"package svc\n.a",                   "svc",               0     },
    {"package a\r\nx := 1",               "a",                 0     },
    {"# METADATA\n# title: x\npackage a", "a",                 0     },
 /* members in brackets */
    {"package a[\"b\"]",                  "a.b",               0     },
    {"package a[\"b-c\"].d",              "a.b-c.d",           0     },
    {"package a[ \n#c\n\"b\"\t]",         "a.b",               0     },
    {"package svc[\"x\"]",                "svc.x",             0     },
    {"package a[`b`][\"c\"]",             "a.b.c",             0     },
    {"package a[\"svc\"]",                "a.svc",             0     },
    {"package a[\"b c\"]\nx := 1",        "a.b c",             0     },
 /* words that mean something elsewhere */
    {"package package",                   "package",           0     },
    {"package import.default.if",         "import.default.if", 0     },
    {"package data.svc",                  "data.svc",          0     },
    {"package input",                     "input",             0     },
    {"package a._",                       "a._",               0     },
    {"package _a1",                       "_a1",               0     },
    {"package svcs",                      "svcs",              0     },
    {"package Svc",                       "Svc",               0     },
 /* no package comes first */
    {"",                                  NULL,                NONE  },
    {"# package a",                       NULL,                NONE  },
    {"x := 1\npackage a",                 NULL,                NONE  },
    {"import data.a\npackage a",          NULL,                NONE  },
    {"packages a",                        NULL,                NONE  },
    {"package_ a",                        NULL,                NONE  },
    {"package1 a",                        NULL,                NONE  },
    {"Package a",                         NULL,                NONE  },
    {"\"package\" a",                     NULL,                NONE  },
    {"`package a`",                       NULL,                NONE  },
    {"\vpackage a",                       NULL,                NONE  },
    {"\fpackage a",                       NULL,                NONE  },
    {"\xc2\xa0package a",                 NULL,                NONE  },
    {" \xef\xbb\xbfpackage a",            NULL,                NONE  },
    {"{package a}",                       NULL,                NONE  },
 /* what the engine may read in its own way */
    {"package",                           NULL,                UNREAD},
    {"package ",                          NULL,                UNREAD},
    {"package\xd9\xa3 a",                 NULL,                UNREAD},
    {"package\"a\"",                      NULL,                UNREAD},
    {"package.a := 1",                    NULL,                UNREAD},
    {"package[\"a\"]",                    NULL,                UNREAD},
    {"package \"svc\"",                   NULL,                UNREAD},
    {"package `svc`",                     NULL,                UNREAD},
    {"package [\"svc\"]",                 NULL,                UNREAD},
    {"package (svc)",                     NULL,                UNREAD},
    {"package 1a",                        NULL,                UNREAD},
    {"package _",                         NULL,                UNREAD},
    {"package _.svc",                     NULL,                UNREAD},
    {"package svc\xd9\xa3",               NULL,                UNREAD},
    {"package \xd1\x95vc",                NULL,                UNREAD},
    {"package a.",                        NULL,                UNREAD},
    {"package a. b",                      NULL,                UNREAD},
    {"package a.#c\nb",                   NULL,                UNREAD},
    {"package a.1",                       NULL,                UNREAD},
    {"package a.b\xc3\xa9",               NULL,                UNREAD},
    {"package a[",                        NULL,                UNREAD},
    {"package a[]",                       NULL,                UNREAD},
    {"package a[\"\"]",                   NULL,                UNREAD},
    {"package a[\"b",                     NULL,                UNREAD},
    {"package a[\"b\"",                   NULL,                UNREAD},
    {"package a[\"b`]",                   NULL,                UNREAD},
    {"package a[\"b.c\"]",                NULL,                UNREAD},
    {"package a[\"\\u0062\"]",            NULL,                UNREAD},
    {"package a[\"\\\"\"]",               NULL,                UNREAD},
    {"package a[\"b\nc\"]",               NULL,                UNREAD},
    {"package a[`b\nc`]",                 NULL,                UNREAD},
    {"package a[\"\xc3\xa9\"]",           NULL,                UNREAD},
    {"package a[(\"b\")]",                NULL,                UNREAD},
    {"package a[$\"b\"]",                 NULL,                UNREAD},
    {"package a[\"b\" ; \"c\"]",          NULL,                UNREAD},
    {"package a[b]",                      NULL,                UNREAD},
    {"package a[1]",                      NULL,                UNREAD},
    {"package a(\"b\")",                  NULL,                UNREAD},
    {"package a;x := 1",                  NULL,                UNREAD},
    {"package a:=1",                      NULL,                UNREAD},
    {"package a[\"b\"]x := 1",            NULL,                UNREAD},
    {"package a\vx := 1",                 NULL,                UNREAD},
    {"package a\xc2\xa0",                 NULL,                UNREAD},
};

static const char *
word_of(enum rule_package kind)
{
    return kind == RULE_PACKAGE_NAMED ? "named" : kind == NONE ? "none" : "unread";
}

/* Return the content on one line, for the test's name. */
static const char *
show(TALLOC_CTX *mem, const char *content)
{
    char *text = talloc_strdup(mem, "");
    for (const char *c = content; *c != '\0'; c++)
        text = *c >= ' ' && *c <= '~' && *c != '#' && *c != '\\'
                   ? talloc_asprintf_append(text, "%c", *c)
                   : talloc_asprintf_append(text, "<%02x>", (unsigned char) *c);
    return text;
}

static void
test_package(const char *content, const char *name, enum rule_package other)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *seen = "untouched";
    enum rule_package kind = rule_package(mem, content, &seen);
    if (name != NULL)
        ok(kind == RULE_PACKAGE_NAMED && strcmp(seen, name) == 0,
           "package %s is read: %s (OPA parsePackage)", name, show(mem, content));
    else
        ok(kind == other && strcmp(seen, "untouched") == 0, "package is %s: %s", word_of(other),
           show(mem, content));
    talloc_free(mem);
}

static void
test_long_names(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *seen = NULL;
    char *content = talloc_asprintf(mem, "package a.%0*d", RULE_PACKAGE_MAX - 2, 0);
    for (char *c = content; *c != '\0'; c++)
        *c = *c == '0' ? 'b' : *c;
    ok(rule_package(mem, content, &seen) == RULE_PACKAGE_NAMED && strlen(seen) == RULE_PACKAGE_MAX,
       "a package's name of 512 octets is read");
    content = talloc_asprintf_append(content, "b");
    ok(rule_package(mem, content, &seen) == RULE_PACKAGE_UNREAD, "one of 513 is not");
    talloc_free(mem);
}

/*
 * For rule_engine.t: each text of the file, ended by a NUL, as one line: the word alone, or `named`
 * and the name.
 */
static int
read_file(const char *path)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "rb");
    while (file != NULL && getdelim(&text, &size, '\0', file) > 0) {
        const char *name = "";
        enum rule_package kind = rule_package(mem, text, &name);
        printf("%s%s%s\n", word_of(kind), *name != '\0' ? " " : "", name);
    }
    free(text);
    talloc_free(mem);
    return file != NULL && fclose(file) == 0 ? 0 : 1;
}

/* For rule_engine.t too: the table, each text ended by a NUL. */
static int
print_table(void)
{
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        fwrite(packages[i].content, 1, strlen(packages[i].content) + 1, stdout);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "table") == 0)
        return print_table();
    if (argc == 3 && strcmp(argv[1], "read") == 0)
        return read_file(argv[2]);
    test_paths();
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        test_package(packages[i].content, packages[i].name, packages[i].other);
    test_long_names();
    return done();
}
