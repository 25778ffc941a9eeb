#include "config.h"

#include "http/page/template.h"

#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "http/page/page_text.h"
#include "tap.h"

static const char *const any_values[] = {"a",      "b",      "c",         "text",        "list",
                                         "list.a", "list.b", "list.list", "list.list.a", "nothing",
                                         "yes",    "no",     NULL};

/* Texts of the language of the page. */
static const json_t *
any_texts(TALLOC_CTX *mem)
{
    return env_json(mem, "{'words':'A & <b>','one':'as {a}.','both':'{a}{text} and {b} {a}',"
                         "'member':'{list} {a}','wrong':'{z}','broken':'{a'}");
}

/* Make a set with the template t, and h if given; *ret_why is the first refusal. */
static struct templates *
make(TALLOC_CTX *mem, const char *t, const char *h, const char **ret_why)
{
    struct templates *set = templates_new(mem);
    *ret_why = NULL;
    if (templates_add(set, "t", "t.html", t, strlen(t), ret_why) != AZ_OK
        || (h != NULL && templates_add(set, "h", "h.html", h, strlen(h), ret_why) != AZ_OK)
        || templates_check(set, "t", any_values, any_texts(mem), ret_why) != AZ_OK)
        return NULL;
    return set;
}

/* Return the filled page, or the fault. */
static const char *
fill(TALLOC_CTX *mem, const char *t, const char *h, const json_t *values)
{
    const char *why;
    struct templates *set = make(mem, t, h, &why);
    BUF_AUTO out;
    if (set == NULL)
        return why;
    buf_init(&out, mem, TEMPLATE_OUTPUT_MAX);
    return templates_fill(set, "t", values, any_texts(mem), &out, &why) == AZ_OK
               ? buf_take(&out, NULL)
               : why;
}

static void
test_fill(TALLOC_CTX *mem)
{
    static const struct {
        const char *template, *filled, *rule;
    } cases[] = {
        {"",                                               "",                  "an empty template"             },
        {"<p>x</p>",                                       "<p>x</p>",          "a text alone"                  },
        {"{{a}}",                                          "A",                 "a value"                       },
        {"-{{ a }}-{{a}}",                                 "-A-A",              "a value twice, with blanks"    },
        {"[{{b}}]",                                        "[]",                "a missing value is empty"      },
        {"[{{nothing}}]",                                  "[]",                "null is empty"                 },
        {"{{! {{a}}x",                                     "x",                 "a comment ends at the first }}"},
        {"a}}b}",                                          "a}}b}",             "braces that close nothing"     },
        {"a{b{ {",                                         "a{b{ {",            "a brace alone"                 },
        {"{{#yes}}y{{/yes}}",                              "y",                 "a section of true"             },
        {"{{#no}}y{{/no}}",                                "",                  "a section of false"            },
        {"{{#a}}y{{a}}{{/a}}",                             "yA",                "a section of a text"           },
        {"{{#text}}y{{/text}}",                            "",                  "a section of an empty text"    },
        {"{{#b}}y{{/b}}",                                  "",                  "a section of what is missing"  },
        {"{{#nothing}}y{{/nothing}}",                      "",                  "a section of null"             },
        {"{{^b}}n{{/b}}{{^no}}n{{/no}}",                   "nn",                "an inverted section"           },
        {"{{^a}}n{{/a}}{{^yes}}n{{/yes}}",                 "",                  "... of what is there"          },
        {"{{^list}}n{{/list}}",                            "",                  "... of a list"                 },
        {"{{#list}}<{{a}}>{{/list}}",                      NULL,                NULL                            },
        {"{{#list}}({{a}}{{c}}){{/list}}",                 "(1C)(2C)(AC)",      "a list; outer names are seen"  },
        {"{{#list}}{{#list}}{{a}}{{/list}};{{/list}}",     "x;122;12A;",        "a list in a list"              },
        {"{{#yes}}{{#no}}1{{/no}}{{^no}}2{{/no}}{{/yes}}", "2",                 "sections in sections"          },
        {"<p {{#yes}}hidden {{/yes}}>",                    "<p hidden >",       "a section between attributes"  },
        {"<p class=\"a{{#yes}} b{{/yes}}\">",              "<p class=\"a b\">", "a section in a value"          },
    };
    const json_t *values =
        env_json(mem, "{'a':'A','c':'C','text':'','yes':true,'no':false,'nothing':null,"
                      "'list':[{'a':'1','list':[{'a':'x'}]},{'a':'2'},{}]}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (cases[i].filled != NULL)
            is_str(fill(mem, cases[i].template, NULL, values), cases[i].filled, "template: %s",
                   cases[i].rule);
    is_str(fill(mem, "1{{>h}}3{{>h}}", "<b>{{a}}</b>", values), "1<b>A</b>3<b>A</b>",
           "template: another is included, and sees the values");
    is_str(fill(mem, "{{#list}}{{>h}}{{/list}}", "{{a}}", values), "12A",
           "template: ... those of the list it is in too");
    is_str(fill(mem, "a\r\nb\rc\n", NULL, values), "a\nb\nc\n",
           "template: line ends are those that browsers hash");
}

/* decisions.md "Languages of the pages": words and values of a text are escaped. */
static void
test_say(TALLOC_CTX *mem)
{
    static const struct {
        const char *template, *filled, *rule;
    } cases[] = {
        {"{{~words}}",                 "A &amp; &lt;b&gt;",                                                    "words are text, never HTML"           },
        {"<p title=\"{{~words}}\">",   "<p title=\"A &amp; &lt;b&gt;\">",                                      "... in an attribute too"              },
        {"{{~one}}",                   "as <bdi>&lt;i&gt;</bdi>.",                                             "a value is escaped, and kept together"},
        {"<title>{{~one}}</title>",    "<title>as &lt;i&gt;.</title>",
         "... without an element in a title"                                                                                                          },
        {"<p title=\"{{~one}}\">",     "<p title=\"as &lt;i&gt;.\">",                                          "... and in an attribute"              },
        {"{{~both}}",                  "<bdi>&lt;i&gt;</bdi><bdi></bdi> and <bdi></bdi> <bdi>&lt;i&gt;</bdi>",
         "values in any order, missing ones empty"                                                                                                    },
        {"{{#list}}{{~one}}{{/list}}", "as <bdi>1</bdi>.",                                                     "a value of a list"                    },
        {"{{~nothing}}",               "t.html:1: nothing: no text has this name",                             "a text that is not there"             },
        {"\n{{~wrong}}",               "t.html:2: wrong: the text has a value that is not known here",
         "a value that is not there"                                                                                                                  },
        {"{{~member}}",                "this value is not a string",                                           "a value that is no text"              },
        {"<p {{~words}}>",
         "t.html:1: words: a value can stand only in text or in a quoted attribute",                           "a place where no value may stand"     },
        {"<p style=\"{{~words}}\">",
         "t.html:1: a style attribute does not work on these pages; use the style element and a "
         "class",                                                                                              "... nor in a style"                   },
        {"{{~}}",                      "t.html:1: a name consists of a-z, 0-9 and _",                          "a text without a name"                },
    };
    const json_t *values = env_json(mem, "{'a':'<i>','list':[{'a':'1'}]}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_str(fill(mem, cases[i].template, NULL, values), cases[i].filled, "text: %s",
               cases[i].rule);
    ok(text_same_values("{a} {b}", "{b}, {a}, {a}") && text_same_values("x", "y"),
       "text: the same values, whatever their order");
    static const char *const other[][2] = {
        {"{a}",   "{b}"  },
        {"{a}",   "x"    },
        {"x",     "{a}"  },
        {"{a",    "{a"   },
        {"a}",    "a}"   },
        {"{A}",   "{A}"  },
        {"{}",    "{}"   },
        {"{{a}}", "{{a}}"}
    };
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        ok(!text_same_values(other[i][0], other[i][1]), "text: '%s' does not stand for '%s'",
           other[i][0], other[i][1]);
    char name[TEMPLATE_NAME_MAX + 4];
    snprintf(name, sizeof(name), "{%0*d}", TEMPLATE_NAME_MAX, 0);
    ok(text_same_values(name, name), "text: the longest name of a value");
    snprintf(name, sizeof(name), "{%0*d}", TEMPLATE_NAME_MAX + 1, 0);
    ok(!text_same_values(name, name), "... and one character more");
}

/* decisions.md "Pages": every value is escaped. */
static void
test_escaping(TALLOC_CTX *mem)
{
    static const struct {
        char c;
        const char *entity;
    } entities[] = {
        {'&',  "&amp;" },
        {'<',  "&lt;"  },
        {'>',  "&gt;"  },
        {'"',  "&quot;"},
        {'\'', "&#39;" }
    };
    unsigned wrong = 0;
    for (int c = 1; c < 128; c++) {
        char text[4] = {'x', (char) c, 'y', '\0'};
        char wanted[16] = {'x', (char) c, 'y', '\0'};
        for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
            if (entities[i].c == c)
                snprintf(wanted, sizeof(wanted), "x%sy", entities[i].entity);
        json_t *values = json_pack("{s:s}", "a", text);
        const char *seen = fill(mem, "{{a}}", NULL, values);
        wrong += strcmp(seen, wanted) != 0;
        json_decref(values);
    }
    is_int(wrong, 0, "template: of all ASCII characters, & < > \" ' are escaped and no other");
    const json_t *values =
        env_json(mem, "{'a':'</b><script>alert(1)</script>&amp;','b':'x onload=y','c':'{{a}}'}");
    is_str(fill(mem, "<b title=\"{{a}}\">{{a}}</b>", NULL, values),
           "<b title=\"&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;\">"
           "&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;</b>",
           "template: a value is escaped in text and in attributes, what looks escaped too");
    is_str(fill(mem, "{{c}}", NULL, values), "{{a}}", "template: a value is no template");
    json_t *sharp = json_pack("{s:s%}", "a", "1\0<2", (size_t) 4);
    const char *why;
    struct templates *set = make(mem, "{{a}}", NULL, &why);
    BUF_AUTO out;
    buf_init(&out, mem, 100);
    is_int(templates_fill(set, "t", sharp, NULL, &out, &why), AZ_OK, "template: a text with NUL");
    is_bin(out.data, out.len, "1\0&lt;2", 7, "template: is escaped behind it too");
    json_decref(sharp);
}

static void
test_refusals(TALLOC_CTX *mem)
{
    static const struct {
        const char *template, *why;
    } cases[] = {
        {"{{{a}}}",                                   "t.html:1: values are always escaped; write {{name}}"                 },
        {"\n\n{{&a}}",                                "t.html:3: values are always escaped; write {{name}}"                 },
        {"x\n{{a",                                    "t.html:2: {{ without }}"                                             },
        {"{{! a",                                     "t.html:1: {{ without }}"                                             },
        {"{{}}",                                      "t.html:1: a name consists of a-z, 0-9 and _"                         },
        {"{{ }}",                                     "t.html:1: a name consists of a-z, 0-9 and _"                         },
        {"{{.}}",                                     "t.html:1: a name consists of a-z, 0-9 and _"                         },
        {"{{A}}",                                     "t.html:1: a name consists of a-z, 0-9 and _"                         },
        {"{{a b}}",                                   "t.html:1: a name consists of a-z, 0-9 and _"                         },
        {"{{../a}}",                                  "t.html:1: a name consists of a-z, 0-9 and _"                         },
        {"{{>../a}}",                                 "t.html:1: a name consists of a-z, 0-9 and _"                         },
        {"{{=<% %>=}}",                               "t.html:1: a name consists of a-z, 0-9 and _"                         },
        {"{{#a}}\n\n{{#b}}\n{{/b}}\n",                "t.html:1: a: this section is not closed"                             },
        {"\n{{#a}}{{^b}}",                            "t.html:2: b: this section is not closed"                             },
        {"{{/a}}",                                    "t.html:1: a: this section was never opened"                          },
        {"{{#a}}{{#b}}\n{{/a}}{{/b}}",
         "t.html:2: a: another section is open; close that one first"                                                       },
        {"{{#a}}<p>{{/a}}\n{{z}}",                    "t.html:2: z: no value has this name here"                            },
        {"{{#z}}{{/z}}",                              "t.html:1: z: no value has this name here"                            },
        {"{{#a}}<p {{/a}}>",
         "t.html:1: a: the section closes inside a tag or value where it did not open"                                      },
        {"<p {{#a}}title=\"{{/a}}\">",
         "t.html:1: a: the section closes inside a tag or value where it did not open"                                      },
        {"<p {{a}}>",                                 "t.html:1: a: a value can stand only in text or in a quoted attribute"},
        {"<p title={{a}}>",                           "t.html:1: a: a value can stand only in text or in a quoted attribute"},
        {"<{{a}}>",                                   "t.html:1: a: a value can stand only in text or in a quoted attribute"},
        {"<video class=\"\"\nsrc=\"{{a}}\">",
         "t.html:2: a: a value cannot stand in an attribute that styles or loads something"                                 },
        {"<style>p{color:{{a}}}</style>",             "t.html:1: a style element cannot contain {{"                         },
        {"<style>{{! x }}</style>",                   "t.html:1: a style element cannot contain {{"                         },
        {"<scr{{! x }}ipt>",                          "t.html:1: this element does not work on these pages "
                             "(no scripts, frames or plug-ins)"                                 },
        {"<p on{{! x }}click=\"a\">",                 "t.html:1: scripts do not work on these pages"                        },
        {"<p title=\"{{>h}}\">",                      "t.html:1: h: a template can be included only in text"                },
        {"<title>{{>h}}</title>",                     "t.html:1: h: a template can be included only in text"                },
        {"{{#a}}<title>{{/a}}</title>",
         "t.html:1: a: the section closes inside a tag or value where it did not open"                                      },
        {"<title>{{a}}",                              "t.html:1: the file ends inside a tag, a value or a style"            },
        {"<title><a b=\"</title><p {{a}}\">",
         "t.html:1: title and textarea cannot contain other tags"                                                           },
        {"<svg><style><p b=\"</style>{{a}}\" {{a}}>",
         "t.html:1: a style element cannot contain other tags"                                                              },
        {"<p\n\n",                                    "t.html:3: the file ends inside a tag, a value or a style"            },
        {"<style>",                                   "t.html:1: the file ends inside a tag, a value or a style"            },
        {"{{>none}}",                                 "t.html:1: none: no such template"                                    },
        {"x\n{{>t}}",                                 "t.html:2: t: templates include each other too deeply or in a loop"   },
        {"\xff",                                      "t.html: the file is not UTF-8 text"                                  },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *why = NULL;
        struct templates *set = make(mem, cases[i].template, NULL, &why);
        is_str(set == NULL ? why : "taken", cases[i].why, "template: %s is refused",
               cases[i].template);
    }
}

/* Names of a list's objects are known only inside it. */
static void
test_names(TALLOC_CTX *mem)
{
    static const char *const names[] = {"list", "list.name", "other", NULL};
    static const struct {
        const char *template;
        bool known;
    } cases[] = {
        {"{{other}}",                                      true },
        {"{{name}}",                                       false},
        {"{{#list}}{{name}}{{/list}}",                     true },
        {"{{#list}}{{other}}{{/list}}",                    true },
        {"{{^list}}{{name}}{{/list}}",                     false},
        {"{{#other}}{{name}}{{/other}}",                   false},
        {"{{#list}}{{#other}}{{name}}{{/other}}{{/list}}", true },
        {"{{#list}}{{/list}}{{name}}",                     false},
        {"{{list.name}}",                                  false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *why;
        struct templates *set = templates_new(mem);
        bool known =
            templates_add(set, "t", "t.html", cases[i].template, strlen(cases[i].template), &why)
                == AZ_OK
            && templates_check(set, "t", names, NULL, &why) == AZ_OK;
        ok(known == cases[i].known, "names: %s is %s", cases[i].template,
           cases[i].known ? "taken" : "refused");
    }
}

/* Return `count` nested sections. */
static const char *
nested(TALLOC_CTX *mem, unsigned count)
{
    char *text = talloc_strdup(mem, "");
    for (unsigned i = 0; i < count; i++)
        text = talloc_strdup_append(text, "{{#yes}}");
    for (unsigned i = 0; i < count; i++)
        text = talloc_strdup_append(text, "{{/yes}}");
    return text;
}

static void
test_size(TALLOC_CTX *mem)
{
    const char *why = NULL;
    char *big = talloc_zero_size(mem, TEMPLATE_SIZE_MAX + 2);
    memset(big, 'x', TEMPLATE_SIZE_MAX + 1);
    struct templates *set = templates_new(mem);
    is_int(templates_add(set, "a", "a.html", big, TEMPLATE_SIZE_MAX, &why), AZ_OK,
           "size: the maximum is taken");
    is_int(templates_add(set, "b", "b.html", big, TEMPLATE_SIZE_MAX + 1, &why), AZ_INVALID,
           "size: one more is refused");
    is_str(why, "b.html: the file is too large", "... and named");
    is_int(templates_add(set, "a", "a.html", "", 0, &why), AZ_INVALID, "a name twice is refused");
    is_int(templates_add(set, "c", "c.html", "a\0b", 3, &why), AZ_INVALID, "a NUL is refused");
    ok(make(mem, nested(mem, TEMPLATE_DEPTH_MAX), NULL, &why) != NULL,
       "depth: the maximum is taken");
    ok(make(mem, nested(mem, TEMPLATE_DEPTH_MAX + 1), NULL, &why) == NULL,
       "depth: one more is refused");
    is_str(why, "t.html:1: yes: sections are nested too deeply", "... and named");
    char name[TEMPLATE_NAME_MAX + 8] = "{{";
    memset(name + 2, 'n', TEMPLATE_NAME_MAX);
    memcpy(name + 2 + TEMPLATE_NAME_MAX, "}}", 3);
    is_int(templates_add(set, "d", "d.html", name, strlen(name), &why), AZ_OK,
           "names: the longest is taken");
    memcpy(name + 2 + TEMPLATE_NAME_MAX, "n}}", 4);
    is_int(templates_add(set, "e", "e.html", name, strlen(name), &why), AZ_INVALID,
           "names: one character more is refused");
}

/* True if a chain of templates, each including the next, is accepted. */
static bool
chain_is_taken(TALLOC_CTX *mem, unsigned length)
{
    struct templates *set = templates_new(mem);
    const char *why;
    for (unsigned i = 0; i <= length; i++) {
        const char *text = i < length ? talloc_asprintf(mem, "{{>t%u}}", i + 1) : "end";
        if (templates_add(set, talloc_asprintf(mem, "t%u", i), "t", text, strlen(text), &why)
            != AZ_OK)
            return false;
    }
    return templates_check(set, "t0", any_values, NULL, &why) == AZ_OK;
}

/* Return a list of `count` empty objects under "list". */
static json_t *
list_of(size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_object());
    return json_pack("{s:o,s:s}", "list", list, "a", "12345678");
}

static void
test_output(TALLOC_CTX *mem)
{
    ok(chain_is_taken(mem, TEMPLATE_DEPTH_MAX), "includes: the deepest is taken");
    ok(!chain_is_taken(mem, TEMPLATE_DEPTH_MAX + 1), "includes: one deeper is refused");
    json_t *values = list_of(TEMPLATE_STEPS_MAX / 2);
    const char *why;
    struct templates *set = make(mem, "{{#list}}{{a}}{{/list}}", NULL, &why);
    BUF_AUTO out;
    buf_init(&out, mem, TEMPLATE_OUTPUT_MAX);
    is_int(templates_fill(set, "t", values, NULL, &out, &why), AZ_OK, "pieces: many are filled");
    json_decref(values);
    values = list_of(TEMPLATE_STEPS_MAX);
    BUF_AUTO more;
    buf_init(&more, mem, TEMPLATE_OUTPUT_MAX);
    is_int(templates_fill(set, "t", values, NULL, &more, &why), AZ_INVALID,
           "pieces: too many are not");
    is_str(why, "the page has too many pieces", "... and that is said");
    json_decref(values);
    BUF_AUTO small;
    buf_init(&small, mem, 15);
    values = list_of(2);
    is_int(templates_fill(set, "t", values, NULL, &small, &why), AZ_INVALID,
           "output: past its maximum");
    is_str(why, "the page is too large", "... and that is said");
    BUF_AUTO right;
    buf_init(&right, mem, 16);
    is_int(templates_fill(set, "t", values, NULL, &right, &why), AZ_OK, "output: at its maximum");
    json_decref(values);
}

static void
test_misuse(TALLOC_CTX *mem)
{
    const char *why = NULL;
    struct templates *set = make(mem, "{{a}}", NULL, &why);
    BUF_AUTO out;
    buf_init(&out, mem, 100);
    for (unsigned i = 0; i < 4; i++) {
        static const char *const no_text[] = {"{'a':1}", "{'a':true}", "{'a':[]}", "{'a':{}}"};
        is_int(templates_fill(set, "t", env_json(mem, no_text[i]), NULL, &out, &why), AZ_INVALID,
               "fill: %s is no text to write", no_text[i]);
    }
    is_int(templates_fill(set, "x", NULL, NULL, &out, &why), AZ_INVALID,
           "fill: a template that is not there");
    is_int(templates_add(set, "x", "x.html", "{{>x}}", 6, &why), AZ_OK, "a circle is read");
    is_int(templates_fill(set, "x", NULL, NULL, &out, &why), AZ_INVALID,
           "fill: ... and not filled: it was not checked");
    is_int(templates_add(set, "y", "y.html", "{{>z}}", 6, &why), AZ_OK, "what names another");
    is_str(templates_missing(set), "z", "missing: says which");
    is_int(templates_add(set, "z", "z.html", "", 0, &why), AZ_OK, "once that is there");
    ok(templates_missing(set) == NULL, "missing: nothing is");
}

static enum az_status
collect(void *arg, const char *text, size_t length)
{
    return buf_append(arg, text, length);
}

static void
test_styles(TALLOC_CTX *mem)
{
    const char *why;
    struct templates *set =
        make(mem, "{{>h}}<style>a{}\r\n</style>{{^no}}<style>b{}</style>{{/no}}",
             "<style>c{}</style>", &why);
    BUF_AUTO out;
    buf_init(&out, mem, 100);
    is_int(templates_each_style(set, "t", collect, &out), AZ_OK, "styles: are told");
    is_str(out.data, "a{}\nb{}c{}", "... with line feeds, of sections and included ones too");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_fill(mem);
    test_say(mem);
    test_escaping(mem);
    test_refusals(mem);
    test_names(mem);
    test_size(mem);
    test_output(mem);
    test_misuse(mem);
    test_styles(mem);
    talloc_free(mem);
    return done();
}
