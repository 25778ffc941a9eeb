#include "config.h"

#include "http/page/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "env.h"
#include "http/fake_io.h"
#include "http/page/page.h"
#include "tap.h"

static const char *
header(const struct request *req, const char *name)
{
    for (size_t i = 0; i < req->res.headers; i++)
        if (strcmp(req->res.header[i].name, name) == 0)
            return req->res.header[i].value;
    return NULL;
}

static void
write_file(const char *dir, const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *out = fopen(path, "we");
    if (out == NULL || fputs(text, out) < 0 || fclose(out) != 0)
        exit(99);
}

/* Load the shipped pages with a directory of further texts. */
static bool
load(struct az *az, const char *dir, struct problems *ret_problems)
{
    const char *source = getenv("srcdir");
    *ret_problems = (struct problems){NULL, 0};
    env_settings(az)->data_dir = talloc_asprintf(az, "%s/etc", source != NULL ? source : ".");
    env_settings(az)->oidc_issuer = "https://login.example";
    env_settings(az)->languages_dir = dir;
    az->pages = pages_load(az, az->cfg, ret_problems);
    return az->pages != NULL;
}

/* Return the answer with a page to a browser. */
static struct request *
show(TALLOC_CTX *mem, struct az *az, const char *name, const char *values, const char *accept)
{
    const char **set = talloc_zero_array(mem, const char *, 5);
    set[0] = "REQUEST_METHOD";
    set[1] = "GET";
    set[2] = accept != NULL ? "HTTP_ACCEPT_LANGUAGE" : NULL;
    set[3] = accept;
    struct request *req = fake_request(mem, fake_new(mem, set, ""), NULL);
    req->op = env_op(req, az);
    respond_page(req, 200, name, env_json(mem, values), NULL);
    return req;
}

static bool
says(const struct request *req, const char *text)
{
    return req->res.body != NULL && strstr(req->res.body, text) != NULL;
}

static bool
is_told(const struct problems *lines, const char *text)
{
    for (size_t i = 0; i < lines->count; i++)
        if (strstr(lines->line[i], text) != NULL)
            return true;
    return false;
}

/* What is shipped, and how the language is chosen (OpenID Connect Core 3.1.2.1). */
static void
test_shipped(TALLOC_CTX *mem, struct az *az)
{
    struct problems problems;
    ok(load(az, NULL, &problems), "shipped: English and German are read");
    const struct problems *warnings = pages_warnings(az->pages);
    is_int((int64_t) warnings->count, 0, "shipped: German has every text: %s",
           warnings->count > 0 ? warnings->line[0] : "");
    is_int((int64_t) json_object_size(pages_texts(az->pages)), 2, "shipped: there are two");
    struct request *req = show(mem, az, "signed_out", "{}", "de-AT,en;q=0.5");
    ok(says(req, "<html lang=\"de\" dir=\"ltr\">") && says(req, "<h1>Sie sind abgemeldet</h1>"),
       "Accept-Language: the page is in German, and says so");
    is_str(header(req, "Content-Language"), "de", "... in Content-Language too");
    is_str(header(req, "Vary"), "Accept-Language", "... and a cache learns what it depends on");
    req = show(mem, az, "signed_out", "{}", NULL);
    ok(says(req, "<html lang=\"en\" dir=\"ltr\">") && says(req, "<h1>You are signed out</h1>"),
       "without it the page is in English");
    is_str(header(req, "Content-Language"), "en", "... and says so");
    req = show(mem, az, "consent", "{'client_name':'<b>','redirect_host':'x'}", "de");
    ok(says(req, "<h1><bdi>&lt;b&gt;</bdi> den Zugriff auf Ihr Konto erlauben?</h1>"),
       "a value stands where the language wants it, escaped");
    struct request *asked = show(mem, az, "none", "{}", "en");
    asked->ui_locales = "fr de";
    respond_page(asked, 200, "busy", env_json(mem, "{}"), NULL);
    is_str(header(asked, "Content-Language"), "de", "ui_locales counts before Accept-Language");
    struct request *failed = show(mem, az, "none", "{}", "de");
    respond_error_page(failed, 500, "server_error", "It broke", NULL);
    ok(says(failed, "<h1>Etwas ist schiefgegangen</h1>")
           && says(failed, "<span lang=\"en\" dir=\"ltr\">It broke</span>"),
       "an error page is in German; the reason for developers is marked as English");
}

/* Files of the operator. */
static void
test_own(TALLOC_CTX *mem, struct az *az)
{
    struct problems problems;
    const char *dir = env_directory(mem);
    write_file(dir, "fr.json",
               "{\"signed_out_title\":\"<script>Vous\",\"busy_title\":7,\"allow\":\"\","
               "\"no_such\":\"x\",\"consent_title\":\"Permettre ?\",\"stranger\":\"{site} {z}\","
               "\"signed_in_as\":\"{subject_name}, bonjour\",\"dir\":\"up\"}");
    write_file(dir, "ar.json", "{\"dir\":\"rtl\"}");
    write_file(dir, "en.json", "{\"signed_out_title\":\"Bye\"}");
    write_file(dir, "DE.json", "{\"busy_title\":\"Moment\"}");
    write_file(dir, "README", "not a file of texts");
    write_file(dir, ".fr.json", "nor this");
    ok(load(az, dir, &problems), "SVC_LANGUAGES_DIR: files are added: %s",
       problems.count > 0 ? problems.line[0] : "");
    if (az->pages == NULL)
        return;
    const struct problems *warnings = pages_warnings(az->pages);
    static const char *const told[] = {
        "/fr.json: no_such: no page has this text",
        "/fr.json: busy_title: is not a text",
        "/fr.json: allow: is not a text",
        "/fr.json: dir: must be ltr or rtl",
        "/fr.json: consent_title: must have the values {...} of the English text",
        "/fr.json: stranger: must have the values {...} of the English text",
        "fr.json lacks ",
        "ar.json lacks ",
    };
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
        ok(is_told(warnings, told[i]), "SVC_LANGUAGES_DIR: a warning tells: %s", told[i]);
    is_int((int64_t) warnings->count, 8, "... and no other, for a text is enough in another file");
    struct request *req = show(mem, az, "signed_out", "{}", "fr");
    ok(says(req, "<html lang=\"fr\" dir=\"ltr\">") && says(req, "<h1>&lt;script&gt;Vous</h1>"),
       "a text of a file is text, whatever it has");
    ok(says(req, "You can close this page."), "a text that is missing is the English one");
    ok(says(show(mem, az, "consent", "{'client_name':'App'}", "fr"), "<bdi>App</bdi> to access"),
       "... and so is one that would hide who asks");
    ok(says(show(mem, az, "signed_out", "{}", "ar"), "<html lang=\"ar\" dir=\"rtl\">"),
       "a language is written from the right");
    ok(says(show(mem, az, "signed_out", "{}", "en"), "<h1>Bye</h1>"), "a shipped text is replaced");
    req = show(mem, az, "busy", "{}", "de");
    ok(says(req, "<h1>Moment</h1>") && says(req, "Gerade melden sich")
           && says(req, "<html lang=\"de\""),
       "... in German too, whatever the case of the file's name; the rest stays");
}

/* A page of the operator in one language says nothing about others. */
static void
test_branded(TALLOC_CTX *mem, struct az *az)
{
    struct problems problems;
    const char *dir = env_directory(mem);
    write_file(dir, "signed_out.html", "<html lang=\"nl\"><p>{{site}}</p></html>");
    write_file(dir, "busy.html", "<p>{{~no_such_text}}</p>");
    env_settings(az)->www_dir = dir;
    ok(!load(az, NULL, &problems)
           && is_told(&problems, "busy.html:1: no_such_text: no text has this name"),
       "SVC_WWW_DIR: a page with an unknown text is refused");
    write_file(dir, "busy.html", "<p>{{~busy_title}}</p>");
    ok(load(az, NULL, &problems), "SVC_WWW_DIR: pages without `lang` are taken");
    struct request *req = show(mem, az, "signed_out", "{}", "de");
    ok(header(req, "Content-Language") == NULL && header(req, "Vary") == NULL,
       "... and have no Content-Language");
    ok(says(show(mem, az, "busy", "{}", "de"), "<p>One moment, please</p>"),
       "... and their texts are English, as their words are");
    env_settings(az)->www_dir = NULL;
}

/* Files that stop the start. */
static void
test_refused(TALLOC_CTX *mem, struct az *az)
{
    static const struct {
        const char *file, *text, *why;
    } cases[] = {
        {"fr.json",     "{",                         "/fr.json: "                                  },
        {"fr.json",     "[\"x\"]",                   "/fr.json: the file is not an object of texts"},
        {"fr.json",     "{\"a\":{\"b\":\"c\"}}",     "/fr.json: "                                  },
        {"fr.json",     "{\"a\":\"b\",\"a\":\"c\"}", "/fr.json: "                                  },
        {"fr.json",     "{\"a\":\"\xff\"}",          "/fr.json: "                                  },
        {"fr.json",     "",                          "/fr.json: "                                  },
        {"f.json",      "{}",                        "/f.json: the name must be a language tag"    },
        {"french.json", "{}",                        NULL                                          },
        {"fr_FR.json",  "{}",                        "/fr_FR.json: the name must be a language tag"},
    };
    struct problems problems;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *dir = env_directory(mem);
        write_file(dir, cases[i].file, cases[i].text);
        bool taken = load(az, dir, &problems);
        ok(cases[i].why == NULL ? taken
                                : !taken && problems.count == 1 && is_told(&problems, cases[i].why)
                                      && strncmp(problems.line[0], "SVC_LANGUAGES_DIR: ", 19) == 0
                                      && is_told(&problems, "correct the file or delete it"),
           "start: %s with %s is %s: %s", cases[i].file, cases[i].text,
           cases[i].why == NULL ? "taken" : "refused", problems.count > 0 ? problems.line[0] : "");
    }
    ok(!load(az, "/nonexistent", &problems)
           && is_told(&problems, "SVC_LANGUAGES_DIR: /nonexistent: No such file or directory"),
       "start: a directory that is set and is not there is refused");
    struct stat at;
    ok(stat(SETTINGS_LANGUAGES_DIR, &at) == 0 || load(az, SETTINGS_LANGUAGES_DIR, &problems),
       "start: that of the default may be missing");
}

/* The limits. */
static void
test_limits(TALLOC_CTX *mem, struct az *az)
{
    struct problems problems;
    const char *dir = env_directory(mem);
    char name[16], *text = talloc_size(mem, TEXTS_FILE_MAX + 2);
    memset(text, ' ', TEXTS_FILE_MAX + 1);
    memcpy(text, "{}", 2);
    text[TEXTS_FILE_MAX] = '\0';
    write_file(dir, "fr.json", text);
    ok(load(az, dir, &problems), "limits: a file of TEXTS_FILE_MAX octets");
    text[TEXTS_FILE_MAX] = ' ';
    text[TEXTS_FILE_MAX + 1] = '\0';
    write_file(dir, "fr.json", text);
    ok(!load(az, dir, &problems) && is_told(&problems, "/fr.json: the file is too large"),
       "... and one octet more is refused");
    write_file(dir, "fr.json", "{}");
    for (int i = 0; i < TEXTS_LANGUAGES_MAX - 3; i++) {
        snprintf(name, sizeof(name), "qa-x%02d.json", i);
        write_file(dir, name, "{}");
    }
    ok(load(az, dir, &problems), "limits: TEXTS_LANGUAGES_MAX languages");
    write_file(dir, "qb.json", "{}");
    ok(!load(az, dir, &problems) && is_told(&problems, "there are too many languages"),
       "... and one more is refused");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    plan(0);
    test_shipped(mem, az);
    test_own(mem, az);
    test_branded(mem, az);
    test_refused(mem, az);
    test_limits(mem, az);
    talloc_free(mem);
    return done();
}
