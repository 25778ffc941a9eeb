#include "config.h"

#include "http/page/page_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "env.h"
#include "tap.h"

#define SVG "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'/>"
#define PNG "\x89PNG\r\n\x1a\n"

static struct settings *
settings_of(TALLOC_CTX *mem, const char *name, const char *logo, const char *www_dir)
{
    struct settings *cfg = talloc_zero(mem, struct settings);
    *cfg = (struct settings){.oidc_issuer = "https://login.example/authz",
                             .pages_name = name,
                             .pages_logo = logo,
                             .www_dir = www_dir};
    return cfg;
}

/* Return the only problem, "" if there is none. */
static const char *
problem_of(TALLOC_CTX *mem, const struct settings *cfg, struct page_site *ret)
{
    struct problems problems = {NULL, 0};
    bool good = page_site_load(mem, cfg, ret, &problems, mem);
    if (good != (problems.count == 0) || problems.count > 1)
        return "not one problem";
    return good ? "" : problems.line[0];
}

static void
put(const char *dir, const char *name, const char *octets, size_t length)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *out = fopen(path, "we");
    if (out == NULL || fwrite(octets, 1, length, out) != length || fclose(out) != 0)
        exit(99);
}

/* ---- SVC_PAGES_NAME */

static const char *
repeat(TALLOC_CTX *mem, const char *text, int times)
{
    char *all = talloc_strdup(mem, "");
    while (times-- > 0)
        all = talloc_strdup_append(all, text);
    return all;
}

static void
test_name(TALLOC_CTX *mem)
{
    struct page_site site;
    is_str(problem_of(mem, settings_of(mem, NULL, NULL, NULL), &site), "", "no settings are right");
    is_str(site.name, "login.example", "... and the name is the issuer's host");
    is_str(site.logo, "", "... and there is no logo");
    is_str(problem_of(mem, settings_of(mem, "Example & Söhne", NULL, NULL), &site), "",
           "SVC_PAGES_NAME: a name is taken");
    is_str(site.name, "Example & Söhne", "... as it is; the template escapes it");
    is_str(site.host, "login.example", "... and the host stays known beside it");
    is_str(problem_of(mem, settings_of(mem, repeat(mem, "ö", PAGE_NAME_MAX), NULL, NULL), &site),
           "", "SVC_PAGES_NAME: 64 characters are taken, whatever their octets");
    is_str(
        problem_of(mem, settings_of(mem, repeat(mem, "ö", PAGE_NAME_MAX + 1), NULL, NULL), &site),
        "SVC_PAGES_NAME: has more than 64 characters", "... and 65 are refused");
    static const char *const bad[] = {"a\nb", "a\x1b[1m", "\xff", "a\xe2\x80\xae z", "\xc2\xa0"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(strncmp(problem_of(mem, settings_of(mem, bad[i], NULL, NULL), &site),
                   "SVC_PAGES_NAME: ", 16)
               == 0,
           "SVC_PAGES_NAME: a control, invisible or broken character is refused (%zu)", i);
}

/* ---- SVC_PAGES_LOGO */

static void
test_logo(TALLOC_CTX *mem)
{
    struct page_site site;
    const char *dir = env_directory(mem);
    put(dir, "logo.svg", SVG, sizeof(SVG) - 1);
    put(dir, "logo.png", PNG "x", sizeof(PNG "x") - 1);
    put(dir, "logo.webp", "RIFF\x01\0\0\0WEBPx", 13);
    is_str(problem_of(mem, settings_of(mem, NULL, "logo.svg", dir), &site), "",
           "SVC_PAGES_LOGO: an SVG file is taken");
    is_str(site.logo,
           "<img "
           "src=\"data:image/svg+xml;base64,"
           "PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHZpZXdCb3g9JzAgMCAxIDEnLz4=\" "
           "alt=\"\">",
           "... as an image, in which no script runs");
    is_str(problem_of(mem, settings_of(mem, NULL, "logo.png", dir), &site), "",
           "SVC_PAGES_LOGO: a PNG file is taken");
    is_str(site.logo, "<img src=\"data:image/png;base64,iVBORw0KGgp4\" alt=\"\">",
           "... with its fixed type");
    is_str(problem_of(mem, settings_of(mem, NULL, "logo.webp", dir), &site), "",
           "SVC_PAGES_LOGO: a WebP file is taken");
    ok(strncmp(site.logo, "<img src=\"data:image/webp;", 25) == 0, "... with its fixed type");
}

static void
test_logo_size(TALLOC_CTX *mem)
{
    struct page_site site;
    const char *dir = env_directory(mem);
    char *large = talloc_zero_array(mem, char, PAGE_LOGO_MAX + 1);
    memcpy(large, PNG, sizeof(PNG) - 1);
    put(dir, "most.png", large, PAGE_LOGO_MAX);
    put(dir, "more.png", large, PAGE_LOGO_MAX + 1);
    is_str(problem_of(mem, settings_of(mem, NULL, "most.png", dir), &site), "",
           "SVC_PAGES_LOGO: 32 KiB are taken");
    is_str(problem_of(mem, settings_of(mem, NULL, "more.png", dir), &site),
           talloc_asprintf(
               mem,
               "SVC_PAGES_LOGO: %s/more.png: has more than 32768 octets; make the image smaller",
               dir),
           "... and one octet more is refused");
}

/* clang-format off */
static const struct {
    const char *logo; /* SVC_PAGES_LOGO */
    const char *why;  /* part of the problem */
} refused[] = {
    {"javascript:alert(1)",              "not a URL"},
    {"javascript:x.svg",                 "not a URL"},
    {"https://cdn.example/logo.png",     "not a URL"},
    {"data:image/png;base64,iVBORw0KGgo", "not a URL"},
    {"../logo.svg",                      "without a path"},
    {"/etc/logo.svg",                    "without a path"},
    {"a/logo.svg",                       "without a path"},
    {".logo.svg",                        "the name of a file"},
    {"a\"onerror=\"x.svg",               "the name of a file"},
    {"logo.svg\n",                       "the name of a file"},
    {".svg",                             "the name of a file"},
    {"logo.gif",                         "must end in .png, .svg or .webp"},
    {"logo",                             "must end in .png, .svg or .webp"},
    {"logo.html",                        "must end in .png, .svg or .webp"},
    {"logo.SVG",                         "must end in .png, .svg or .webp"},
    {"gone.png",                         "/gone.png: No such file or directory"},
    {"folder.png",                       "/folder.png: Is a directory"},
    {"page.svg",                         "/page.svg: is not of the type image/svg+xml"},
    {"page.png",                         "/page.png: is not of the type image/png"},
    {"drawn.png",                        "/drawn.png: is not of the type image/png"},
    {"octets.svg",                       "/octets.svg: is not of the type image/svg+xml"},
    {"empty.svg",                        "/empty.svg: is not of the type image/svg+xml"},
    {"riff.webp",                        "/riff.webp: is not of the type image/webp"},
};
/* clang-format on */

static void
test_refused(TALLOC_CTX *mem)
{
    struct page_site site;
    const char *dir = env_directory(mem), *folder = talloc_asprintf(mem, "%s/folder.png", dir);
    if (mkdir(folder, 0700) != 0)
        exit(99);
    put(dir, "page.svg", "<!doctype html><script>x</script>", 33);
    put(dir, "page.png", "<script>x</script>", 18);
    put(dir, "drawn.png", SVG, sizeof(SVG) - 1);
    put(dir, "octets.svg", "<svg>\xff</svg>", 12);
    put(dir, "empty.svg", "", 0);
    put(dir, "riff.webp", "RIFF\x01\0\0\0WAVEx", 13);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        const char *why = problem_of(mem, settings_of(mem, NULL, refused[i].logo, dir), &site);
        ok(strncmp(why, "SVC_PAGES_LOGO: ", 16) == 0 && strstr(why, refused[i].why) != NULL
               && *site.logo == '\0',
           "SVC_PAGES_LOGO='%s' is refused: %s", refused[i].logo, why);
    }
    const char *why = problem_of(mem, settings_of(mem, NULL, "logo.svg", NULL), &site);
    ok(strstr(why, "SVC_WWW_DIR, which is not set") != NULL,
       "SVC_PAGES_LOGO: without SVC_WWW_DIR it is refused: %s", why);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_name(mem);
    test_logo(mem);
    test_logo_size(mem);
    test_refused(mem);
    talloc_free(mem);
    return done();
}
