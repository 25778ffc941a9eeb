#include "config.h"

#include "http/page/template_html.h"

#include <string.h>

#include "tap.h"

/* Return the fault of a text, or NULL. */
static const char *
scan(const char *text, struct html_scan *ret)
{
    size_t at = 0;
    *ret = (struct html_scan){.place = HTML_TEXT};
    return html_scan(ret, text, strlen(text), &at);
}

static void
test_places(void)
{
    static const struct {
        const char *text;
        enum html_place place;
        bool value, section;
    } cases[] = {
        {"",                                HTML_TEXT,         true,  true },
        {"a > b & c",                       HTML_TEXT,         true,  true },
        {"<",                               HTML_LESS,         false, false},
        {"</",                              HTML_LESS,         false, false},
        {"<!doctype",                       HTML_DECLARATION,  false, false},
        {"<!doctype html>",                 HTML_TEXT,         true,  true },
        {"<p",                              HTML_ELEMENT,      false, false},
        {"<p ",                             HTML_TAG,          false, true },
        {"<p>",                             HTML_TEXT,         true,  true },
        {"<br/>",                           HTML_TEXT,         true,  true },
        {"</p>",                            HTML_TEXT,         true,  true },
        {"<p cl",                           HTML_ATTRIBUTE,    false, false},
        {"<p class=",                       HTML_EQUALS,       false, false},
        {"<p class=\"",                     HTML_VALUE_DOUBLE, true,  true },
        {"<p class=\"a>'b",                 HTML_VALUE_DOUBLE, true,  true },
        {"<p class='",                      HTML_VALUE_SINGLE, true,  true },
        {"<p class='\"",                    HTML_VALUE_SINGLE, true,  true },
        {"<p class='a'",                    HTML_TAG,          false, true },
        {"<input checked ",                 HTML_TAG,          false, true },
        {"<input checked>",                 HTML_TEXT,         true,  true },
        {"<style",                          HTML_ELEMENT,      false, false},
        {"<style>",                         HTML_STYLE,        false, false},
        {"<STYLE media=\"print\">a",        HTML_STYLE,        false, false},
        {"<style>@media (width < 9em) {",   HTML_STYLE,        false, false},
        {"<style>@media (1em <= width) {",  HTML_STYLE,        false, false},
        {"<title>a",                        HTML_TEXT,         true,  true },
        {"<title></title><p class=\"",      HTML_VALUE_DOUBLE, true,  true },
        {"<TextArea rows='2'>a</TEXTAREA ", HTML_TAG,          false, true },
        {"<style></style>",                 HTML_TEXT,         true,  true },
        {"<style></STYLE >",                HTML_TEXT,         true,  true },
        {"<styles>",                        HTML_TEXT,         true,  true },
        {"</style>",                        HTML_TEXT,         true,  true },
        {"<a href=\"",                      HTML_VALUE_DOUBLE, true,  true },
        {"<img src=\"",                     HTML_VALUE_DOUBLE, true,  true },
        {"<IMG SRC='",                      HTML_VALUE_SINGLE, true,  true },
        {"<image src='",                    HTML_VALUE_SINGLE, false, true },
        {"<input src=\"",                   HTML_VALUE_DOUBLE, false, true },
        {"<video src=\"",                   HTML_VALUE_DOUBLE, false, true },
        {"<img srcset=\"",                  HTML_VALUE_DOUBLE, false, true },
        {"<video poster=\"",                HTML_VALUE_DOUBLE, false, true },
        {"<meta http-equiv=\"",             HTML_VALUE_DOUBLE, false, true },
        {"<meta content=\"",                HTML_VALUE_DOUBLE, false, true },
        {"<p srcdoc=\"",                    HTML_VALUE_DOUBLE, false, true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct html_scan seen;
        is_str(scan(cases[i].text, &seen), NULL, "html: '%s' is read", cases[i].text);
        is_int(seen.place, cases[i].place, "... and ends where it does");
        ok((html_value_fault(&seen) == NULL) == cases[i].value, "... %s a value",
           cases[i].value ? "takes" : "refuses");
        ok((html_section_fault(&seen) == NULL) == cases[i].section, "... %s a section",
           cases[i].section ? "takes" : "refuses");
    }
}

static void
test_refusals(void)
{
    static const char *const cases[] = {
        "a < b",
        "<1",
        "< p",
        "<//p",
        "</!p",
        "<?php",
        "<p\"",
        "<p\x01",
        "<p \"",
        "<p <",
        "<p =a",
        "<p class=a",
        "<p class= \"a\"",
        "<p class=>",
        "<p a\"b",
        "<!-- sent -->",
        "<![CDATA[",
        "<script>",
        "<SCRIPT >",
        "<script\n",
        "</script>",
        "<iframe ",
        "<frame>",
        "<object ",
        "<embed ",
        "<applet>",
        "<base ",
        "<p style=\"color: red\">",
        "<p STYLE=''",
        "<p onclick=\"x\"",
        "<p onclick>",
        "<p ONLOAD ",
        "<style></style><style></style><style></style><style></style><style>",
        "<title><p",
        "<title></p ",
        "<title></textarea>",
        "<title/><p",
        "<textarea><a href=\"</textarea>",
        "<svg><title><g",
        "<style>a{content:'<p'}",
        "<svg><style></styles>",
        "<style><!--",
        "<xmp>",
        "<noscript>",
        "<noembed ",
        "<noframes>",
        "<plaintext>",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct html_scan seen;
        ok(scan(cases[i], &seen) != NULL,
           "html: %s is refused: it could be read another way, or the page's policy forbids it",
           cases[i]);
    }
    struct html_scan seen = {.place = HTML_TEXT};
    size_t at = 0;
    ok(html_scan(&seen, "ab\n<p>&<q", 9, &at) == NULL, "html: an open name is no fault yet");
    ok(html_scan(&seen, "r\"", 2, &at) != NULL && at == 1, "... and a fault has its place");
}

static void
test_styles(void)
{
    struct html_scan seen;
    is_str(scan("<style>a{}</style><style nonce='n'>b\n</style\n><p>", &seen), NULL,
           "html: styles are read");
    is_int((int64_t) seen.styles, 2, "html: and kept");
    is_bin(seen.style[0].text, seen.style[0].length, "a{}", 3, "html: whole");
    is_bin(seen.style[1].text, seen.style[1].length, "b\n", 2, "html: with line ends");
    is_str(scan("<style></style><style></style><style></style><style>x</style>", &seen), NULL,
           "html: %d styles are taken", HTML_STYLES_MAX);
    is_int((int64_t) seen.styles, HTML_STYLES_MAX, "html: all of them");
    is_str(scan("<title>x</title><p class=\"a-name-that-is-longer-than-any-we-know\" "
                "attribute-that-is-longer-than-any='",
                &seen),
           NULL, "html: long names are cut");
    is_int((int64_t) strlen(seen.attribute), HTML_NAME_MAX, "html: at the limit");
}

static void
test_same(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"<p>",          "</i>",        true },
        {"<p ",          "<p a ",       true },
        {"<p ",          "<q ",         false},
        {"<p ",          "</p ",        false},
        {"<p ",          "<p>",         false},
        {"<p a=\"",      "<p a=\"b",    true },
        {"<p a=\"",      "<p b=\"",     false},
        {"<p a=\"",      "<p a='",      false},
        {"<img alt=\"x", "<img src=\"", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct html_scan a, b;
        scan(cases[i].a, &a);
        scan(cases[i].b, &b);
        ok(html_same(&a, &b) == cases[i].same, "html: %s and %s are %s place", cases[i].a,
           cases[i].b, cases[i].same ? "one" : "no one");
    }
}

int
main(void)
{
    plan(0);
    test_places();
    test_refusals();
    test_styles();
    test_same();
    return done();
}
