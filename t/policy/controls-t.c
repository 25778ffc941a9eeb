#include "config.h"

#include "policy/catalogue/controls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "policy/catalogue/control_settings.h"
#include "policy/catalogue/control_sites.h"
#include "policy/catalogue/shipped_files.h"
#include "tap.h"

static void
write_file(TALLOC_CTX *mem, const char *dir, const char *name, const char *text, size_t length)
{
    const char *path = talloc_asprintf(mem, "%s/policy/%s", dir, name);
    FILE *file = fopen(path, "we");
    if (file == NULL || fwrite(text, 1, length, file) != length || fclose(file) != 0) {
        perror(path);
        exit(99);
    }
}

/* Make a policy with one control and one rule; each test breaks one part of it. */
static struct az *
make_policy(TALLOC_CTX *mem, const char **ret_dir)
{
    static const char *const folders[] = {"", "svc", "svc/controls", "schemas"};
    static const struct {
        const char *name, *text;
    } files[] = {
        {"controls.json",
         "[{\"id\":\"a\",\"title\":\"A\",\"decides\":\"D.\",\"entrypoints\":[\"issue\"],"
         "\"endpoints\":[\"/a\"],\"configurable\":true,"
         "\"rows\":[{\"key\":\"svc.a\",\"writers\":[\"admin\"]}],"
         "\"inputs\":[],\"outputs\":[],\"reasons\":[]}]"                                },
        {"schemas/svc.a.json",  "{\"type\":\"object\",\"properties\":{\"m\":{\"type\":\"string\","
                               "\"description\":\"M.\"}}}"},
        {"svc/controls/a.rego", "package svc.controls.a\n"                              },
    };
    const char *dir = env_directory(mem);
    struct az *az = env_az(mem);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        mkdir(talloc_asprintf(mem, "%s/policy/%s", dir, folders[i]), 0700);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        write_file(mem, dir, files[i].name, files[i].text, strlen(files[i].text));
    env_settings(az)->data_dir = dir;
    *ret_dir = dir;
    return az;
}

/* ---- settings ---- */

#define S "'type':'string','description':'x'"
#define O "'type':'object','description':'x'"
#define A "'type':'array','description':'x'"

static const struct {
    const char *schema;
    const char *names; /* with blanks between; NULL: refused */
    const char *name;
} schemas[] = {
    {"{}",                                                                                    "",                        "a row without members has no settings" },
    {"{'properties':{'a':{" S "}}}",                                                          "k#/a",                    "a member"                              },
    {"{'properties':{'b':{" S "},'a':{" S "}}}",                                              "k#/b k#/a",               "members in the schema's order"         },
    {"{'properties':{'a':{" O ",'properties':{'b':{" S "}}}}}",                               "k#/a k#/a/b",
     "a member of a member, and the member itself"                                                                                                               },
    {"{'properties':{'a':{" O ",'x-key':'id','additionalProperties':{" S "}}}}",              "k#/a k#/a/{id}",
     "an entry of a map is named by x-key"                                                                                                                       },
    {"{'properties':{'a':{" A ",'items':{" S "}}}}",                                          "k#/a",                    "an item is no setting"                 },
    {"{'properties':{'a':{" A ",'items':{'properties':{'b':{" S "}}}}}}",                     "k#/a k#/a/{index}/b",
     "a member of an item is one"                                                                                                                                },
    {"{'properties':{'a':{" A ",'items':{'anyOf':[{" S "},{'properties':{'b':{" S "}}}]}}}}",
     "k#/a k#/a/{index}/b",                                                                                              "a member of one form of an item is one"},
    {"{'properties':{'a':{" O ",'additionalProperties':true}}}",                              "k#/a",
     "what is free in form is one setting"                                                                                                                       },
    {"{'properties':{'a/b~c':{" S "}}}",                                                      "k#/a~1b~0c",              "names are escaped (RFC 6901 3)"        },
    {"{'$defs':{'d':{" O ",'properties':{'b':{" S "}}}},'properties':{'a':{'$ref':'#/$defs/d'},"
     "'c':{'$ref':'#/$defs/d'}}}",                                                       "k#/a k#/a/b k#/c k#/c/b", "a reference stands for its definition" },
    {"{'$defs':{'d':{" S "}}}",                                                               "",                        "a definition alone is no setting"      },
    {"{'$defs':{'d':{'properties':{'b':{'$ref':'#/$defs/d'}}}}}",                             NULL,
     "in a circle of references"                                                                                                                                 },
    {"{'properties':{'a':{'$ref':'#/$defs/d'}}}",                                             NULL,                      "behind a reference to nothing"         },
    {"{'properties':{'a':{'type':'string'}}}",                                                NULL,                      "without description"                   },
    {"{'properties':{'a':{'type':'string','description':''}}}",                               NULL,                      "with an empty one"                     },
    {"{'properties':{'a':{'description':'x'}}}",                                              NULL,                      "without type"                          },
    {"{'properties':{'a':{" O ",'properties':{'b':{}}}}}",                                    NULL,                      "with such a member"                    },
    {"{'properties':{'a':{" O ",'additionalProperties':{" S "}}}}",                           NULL,                      "a map without x-key"                   },
    {"{'properties':{'a':5}}",                                                                NULL,                      "that is no schema"                     },
};

static const char *
names_of(TALLOC_CTX *mem, json_t *settings)
{
    char *names = talloc_strdup(mem, "");
    const char *name;
    json_t *setting;
    json_object_foreach (settings, name, setting)
        names = talloc_asprintf_append(names, "%s%s", *names ? " " : "", name);
    return names;
}

static void
test_settings(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        struct op op = env_op(mem, env_az(mem));
        const struct control_row row = {"k", "a", env_json(mem, schemas[i].schema)};
        json_t *settings = jsonx_own(mem, json_object());
        enum az_status st = control_settings_add(&op, &row, settings);
        if (schemas[i].names != NULL)
            is_str(st == AZ_OK ? names_of(mem, settings) : "refused", schemas[i].names,
                   "settings: %s (policy.md 6.4)", schemas[i].name);
        else
            ok(st == AZ_SERVER_ERROR && strstr(op.fault.detail, "the schema of k") != NULL,
               "settings: refused: a setting %s", schemas[i].name);
    }
}

static void
test_setting(TALLOC_CTX *mem)
{
    struct op op = env_op(mem, env_az(mem));
    const struct control_row row = {
        "k", "a",
        env_json(mem, "{'required':['b'],'properties':{'a':{" S ",'default':''},'b':{" S "}}}")};
    json_t *settings = jsonx_own(mem, json_object());
    control_settings_add(&op, &row, settings);
    is_str(jsonx_dump(mem, json_object_get(settings, "k#/a")),
           "{\"type\":\"string\",\"default\":\"\",\"description\":\"x\",\"control\":\"a\","
           "\"required\":false}",
           "settings: type, default, description and control (policy.md 6.4)");
    is_str(jsonx_dump(mem, json_object_get(settings, "k#/b")),
           "{\"type\":\"string\",\"default\":null,\"description\":\"x\",\"control\":\"a\","
           "\"required\":true}",
           "settings: null where the schema has no default; required where it says so");
}

/* The longest path that fits, and one octet more. */
static void
test_path_limit(TALLOC_CTX *mem)
{
    enum { LIMIT = 1024 };
    char name[LIMIT + 1];
    for (size_t more = 0; more < 2; more++) {
        struct op op = env_op(mem, env_az(mem));
        memset(name, 'n', sizeof(name));
        name[LIMIT - 1 + more] = '\0';
        const struct control_row row = {
            "k", "a", env_json(mem, talloc_asprintf(mem, "{'properties':{'%s':{" S "}}}", name))};
        is_int(control_settings_add(&op, &row, jsonx_own(mem, json_object())),
               more == 0 ? AZ_OK : AZ_SERVER_ERROR, "limit: a path of %zu octets", LIMIT + more);
    }
}

/* ---- sites ---- */

#define REASON "\t\"code\": \"x_y\", \"category\": \"c\", \"control\": \"a\","

static const struct {
    const char *text, *sites, *name;
} texts[] = {
    {"package svc.controls.a\n",                                                "1 svc.controls.a",    "the package of the control"               },
    {"# x\n\npackage svc.controls.a",                                           "3 svc.controls.a",    "behind comments, without line break"      },
    {"package svc.controls.ab\n",                                               "",                    "a package with a longer name is another's"},
    {"package svc.controls.a.b\n",                                              "",                    "a package below is another's"             },
    {"package svc.b\ndeny contains {\n" REASON "\n}\n",                         "3 svc.b.deny x_y",    "a reason in a rule"                       },
    {"package svc.b\ninvalid(n) := {\n" REASON "\n}\n",                         "3 svc.b.invalid x_y", "... in a function"                        },
    {"package svc.b\nimport data.c\ndefault d := {\n" REASON "\n}\n",           "4 svc.b.d x_y",
     "... in a default rule"                                                                                                                      },
    {"package svc.b\nr := 1\n\nelse := {\n" REASON "\n}\n",                     "5 svc.b.r x_y",       "... in an else"                           },
    {"package svc.b\nr := 1\n\ns := {\n" REASON "\n}\nt := {\n" REASON "\n}\n",
     "5 svc.b.s x_y, 8 svc.b.t x_y",                                                                   "each in its own rule"                     },
    {"package svc.b\nr := {\n\t# " REASON "\n}\n",                              "",                    "a comment is no site"                     },
    {"package svc.b\nr := {\n\t\"code\": \"x\", \"control\": \"ab\"\n}\n",      "",                    "another control's"                        },
    {"package svc.b\nr := {\n\t\"code\": \"x\",\n\t\"control\": \"a\"\n}\n",    "",
     "code and control on two lines"                                                                                                              },
    {"package svc.b\nr := {\n\t\"code\": \"x",                                  "",                    "a text that ends in the middle"           },
    {"",                                                                        "",                    "nothing"                                  },
    {"\n\n",                                                                    "",                    "empty lines"                              },
    {REASON,                                                                    "1  x_y",              "a reason before any package"              },
};

static void
test_sites(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct op op = env_op(mem, env_az(mem));
        json_t *sites = jsonx_own(mem, json_array()), *site;
        char *seen = talloc_strdup(mem, "");
        size_t index;
        control_sites_scan(&op, "a", "f", texts[i].text, sites);
        json_array_foreach (sites, index, site) {
            const char *code = json_string_value(json_object_get(site, "code"));
            seen = talloc_asprintf_append(seen, "%s%d %s%s%s", index > 0 ? ", " : "",
                                          (int) json_integer_value(json_object_get(site, "line")),
                                          json_string_value(json_object_get(site, "rule")),
                                          code ? " " : "", code ? code : "");
        }
        is_str(seen, texts[i].sites, "sites: %s (policy.md 6.4)", texts[i].name);
    }
}

/* ---- the catalogue and its faults ---- */

static void
test_answers(TALLOC_CTX *mem)
{
    const char *dir;
    struct az *az = make_policy(mem, &dir);
    struct op op = env_op(mem, az);
    json_t *list = NULL, *settings = NULL, *one = NULL, *none = (json_t *) mem;
    is_int(controls_list(&op, &list), AZ_OK, "the list");
    is_str(jsonx_dump(mem, list),
           "[{\"id\":\"a\",\"title\":\"A\",\"decides\":\"D.\",\"entrypoints\":[\"issue\"],"
           "\"configurable\":true,\"settings\":[\"svc.a#/m\"],\"reasons\":[]}]",
           "the list: one compact row per control (specification 4.12)");
    is_int(controls_settings(&op, &settings), AZ_OK, "the settings");
    is_str(names_of(mem, settings), "svc.a#/m", "the settings: those of every control");
    is_int(controls_describe(&op, "a", &one), AZ_OK, "a control");
    is_str(jsonx_dump(mem, json_object_get(one, "sites")),
           "[{\"file\":\"svc/controls/a.rego\",\"rule\":\"svc.controls.a\",\"line\":1}]",
           "a control: its sites (specification 4.12)");
    is_str(jsonx_dump(mem, json_object_get(one, "endpoints")), "[\"/a\"]",
           "a control: the endpoints that read its rows themselves (policy.md 6.4)");
    is_str(jsonx_dump(mem, json_object_get(one, "rows")),
           "[{\"key\":\"svc.a\",\"writers\":[\"admin\"],\"schema\":{\"type\":\"object\","
           "\"properties\":{\"m\":{\"type\":\"string\",\"description\":\"M.\"}}}}]",
           "a control: its rows, who writes them, their schemas");
    is_int(controls_describe(&op, "../schemas/svc.a", &none), AZ_OK, "an id is no path");
    ok(none == NULL, "... and an unknown one gives nothing");
}

static const struct {
    const char *file; /* NULL: the folder is away */
    const char *text; /* NULL: the file is away */
    const char *name;
} faults[] = {
    {NULL,                 NULL,                                                                   "the whole folder is away"     },
    {"controls.json",      NULL,                                                                   "no catalogue"                 },
    {"controls.json",      "",                                                                     "an empty one"                 },
    {"controls.json",      "[",                                                                    "one that is no JSON"          },
    {"controls.json",      "{}",                                                                   "one that is no array"         },
    {"controls.json",      "[5]",                                                                  "a control that is no object"  },
    {"controls.json",
     "[{\"id\":\"a\",\"title\":\"A\",\"decides\":\"D.\",\"entrypoints\":[],\"endpoints\":[],"
     "\"rows\":[],\"inputs\":[],\"outputs\":[],\"reasons\":[]}]",                                  "a control that lacks a member"},
    {"controls.json",
     "[{\"id\":\"a\",\"title\":\"A\",\"decides\":\"D.\",\"entrypoints\":[],\"endpoints\":[],"
     "\"configurable\":true,\"rows\":[{\"key\":5}],\"inputs\":[],\"outputs\":[],\"reasons\":[]}]", "a row without key"            },
    {"schemas/svc.a.json", NULL,                                                                   "no schema of a row"           },
    {"schemas/svc.a.json", "{\"properties\":{\"m\":{}}}",                                          "an incomplete one"            },
};

static void
test_faults(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        const char *dir;
        struct az *az = make_policy(mem, &dir);
        struct op op = env_op(mem, az), again = env_op(mem, az), third = env_op(mem, az);
        json_t *answer = NULL;
        if (faults[i].file == NULL)
            env_settings(az)->data_dir = talloc_asprintf(mem, "%s/gone", dir);
        else if (faults[i].text == NULL)
            remove(talloc_asprintf(mem, "%s/policy/%s", dir, faults[i].file));
        else
            write_file(mem, dir, faults[i].file, faults[i].text, strlen(faults[i].text));
        ok(controls_list(&op, &answer) == AZ_SERVER_ERROR
               && controls_settings(&again, &answer) == AZ_SERVER_ERROR
               && controls_describe(&third, "a", &answer) == AZ_SERVER_ERROR && answer == NULL,
           "refused: %s", faults[i].name);
        ok(strstr(op.fault.detail, "SVC_DATA_DIR") != NULL
               && (faults[i].file == NULL
                   || strstr(op.fault.detail, strcmp(faults[i].file, "controls.json") == 0
                                                  ? "controls.json"
                                                  : "svc.a")
                          != NULL),
           "... and the fault names SVC_DATA_DIR and the file: %s", op.fault.detail);
    }
}

/* Limits on the octets of a file and on the number of files. */
static void
test_limits(TALLOC_CTX *mem)
{
    const char *dir, *text;
    struct az *az = make_policy(mem, &dir);
    struct op op = env_op(mem, az);
    json_t *sites;
    char *octets = talloc_array(mem, char, SHIPPED_FILE_MAX + 1);
    memset(octets, '#', SHIPPED_FILE_MAX + 1);
    write_file(mem, dir, "big", octets, SHIPPED_FILE_MAX);
    is_int(shipped_text(&op, "big", &text), AZ_OK, "limit: a file of %d octets", SHIPPED_FILE_MAX);
    write_file(mem, dir, "big", octets, SHIPPED_FILE_MAX + 1);
    is_int(shipped_text(&op, "big", &text), AZ_SERVER_ERROR, "limit: one octet more is refused");
    write_file(mem, dir, "big", "a\0b", 3);
    is_int(shipped_text(&op, "big", &text), AZ_SERVER_ERROR, "refused: a file with a NUL");
    is_int(shipped_text(&op, "svc", &text), AZ_SERVER_ERROR, "refused: a folder");
    for (int i = 1; i < SHIPPED_FILES_MAX; i++)
        write_file(mem, dir, talloc_asprintf(mem, "svc/%d.rego", i), "", 0);
    struct op most = env_op(mem, az), more = env_op(mem, az);
    is_int(control_sites(&most, "a", &sites), AZ_OK, "limit: %d files of rules", SHIPPED_FILES_MAX);
    write_file(mem, dir, "svc/more.rego", "", 0);
    is_int(control_sites(&more, "a", &sites), AZ_SERVER_ERROR, "limit: one more is refused");
}

static void
test_folders(TALLOC_CTX *mem)
{
    const char *dir;
    struct az *az = make_policy(mem, &dir);
    json_t *sites;
    char *folder = talloc_strdup(mem, "svc");
    for (int depth = 2; depth <= SHIPPED_FOLDERS_MAX + 1; depth++) {
        struct op op = env_op(mem, az);
        folder = talloc_asprintf_append(folder, "/d");
        mkdir(talloc_asprintf(mem, "%s/policy/%s", dir, folder), 0700);
        is_int(control_sites(&op, "a", &sites),
               depth <= SHIPPED_FOLDERS_MAX ? AZ_OK : AZ_SERVER_ERROR,
               "limit: folders in folders, %d deep", depth);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_settings(mem);
    test_setting(mem);
    test_path_limit(mem);
    test_sites(mem);
    test_answers(mem);
    test_faults(mem);
    test_limits(mem);
    test_folders(mem);
    talloc_free(mem);
    return done();
}
