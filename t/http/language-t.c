#include "config.h"

#include "http/page/language.h"

#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct { const char *locales, *accept, *tag, *name; } cases[] = {
    {NULL,       NULL,                     "en",    "nothing asked for: English"},
    {"de",       NULL,                     "de",    "ui_locales (OpenID Connect Core 3.1.2.1)"},
    {"fr de en", NULL,                     "de",    "... the first one that is there"},
    {"de",       "en",                     "de",    "... before Accept-Language"},
    {"fr",       "de",                     "de",    "... which counts if none is there"},
    {"de-AT",    NULL,                     "de",    "a region that is not there (RFC 4647 3.4)"},
    {"DE-ch-1996", NULL,                   "de-CH", "... whatever the case of letters"},
    {NULL,       "de",                     "de",    "Accept-Language (RFC 9110 12.5.4)"},
    {NULL,       "en;q=0.5, de;q=0.8",     "de",    "... the largest weight"},
    {NULL,       "de;q=0.8,en;q=0.8",      "de",    "... the first one of the same weight"},
    {NULL,       "de;q=0",                 "en",    "a weight of 0 is a refusal"},
    {NULL,       "de;q=0, fr",             "en",    "... also before others"},
    {NULL,       "de;q=7",                 "en",    "a weight beyond 1 counts as none"},
    {NULL,       "de;q=x",                 "en",    "... and so does one that is no number"},
    {NULL,       "*",                      "en",    "any language: English"},
    {NULL,       "d, dee, e, -, ;, ,,",    "en",    "tags that only begin so"},
    {"",         "",                       "en",    "empty"},
    {"-- - <de>", ";;;q=q=,-,\x01\xff",    "en",    "not tags"},
};

static const struct { const char *text; bool tag; } tags[] = {
    {"de", true}, {"pt-BR", true}, {"zh-Hant-TW", true}, {"abcdefgh", true}, {"de-12345678", true},
    {"", false}, {"d", false}, {"abcdefghi", false}, {"de-", false}, {"-de", false},
    {"de--CH", false}, {"de-123456789", false}, {"d3", false}, {"de_CH", false}, {"../de", false},
    {"de.", false}, {"d\xc3\xa9", false},
};
/* clang-format on */

int
main(void)
{
    json_t *texts = json_loads("{\"de\":{},\"de-CH\":{},\"en\":{}}", 0, NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_str(language_best(texts, cases[i].locales, cases[i].accept), cases[i].tag,
               "language: %s", cases[i].name);
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        ok(language_is_tag(tags[i].text) == tags[i].tag, "tag: '%s' is %s (RFC 5646 2.1)",
           tags[i].text, tags[i].tag ? "one" : "none");
    char many[LANGUAGE_TAGS_MAX * 3 + 4] = "";
    for (int i = 0; i < LANGUAGE_TAGS_MAX - 1; i++)
        strcat(many, "fr ");
    strcat(many, "de");
    is_str(language_best(texts, many, NULL), "de", "the last of LANGUAGE_TAGS_MAX tags counts");
    memmove(many + 3, many, strlen(many) + 1);
    is_str(language_best(texts, many, NULL), "en", "... and no tag behind them");
    json_object_del(texts, "en");
    is_str(language_best(texts, "fr", "fr"), NULL, "none fits, and English is not there");
    is_str(language_best(NULL, "en", "en"), NULL, "... nor is anything");
    json_decref(texts);
    return done();
}
