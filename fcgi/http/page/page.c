#include "config.h"

#include "http/page/page.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/b64url.h"
#include "base/buf.h"
#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "http/page/language.h"
#include "http/page/page_rows.h"
#include "http/page/page_site.h"
#include "http/page/template.h"
#include "http/page/texts.h"
#include "http/route.h"

/* Most includes that the pages may name besides ours. */
#define PAGE_INCLUDES_MAX 16

/* Longest Content-Security-Policy, in octets: a page's styles, four in each of its templates, take
 * 54 octets each. */
#define PAGE_CSP_MAX 4096

#define PAGE_SOURCE_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._"

/* The names that each page and its parts may use. */
static const char *const page_common[] = {"site", "site_name", "site_logo", "lang", "dir"};
#define COMMON (sizeof(page_common) / sizeof(page_common[0]))

struct pages {
    struct templates *set;
    struct page_site site;     /* name and logo, the same on all pages */
    const char *styles[PAGES]; /* style-src of each row */
    /* Objects of texts by language tag. Pages of an operator may be in one language: they do not
     * use `lang`. */
    json_t *texts;
    bool speaks[PAGES];
    struct problems warnings; /* texts that are missing or not used */
};

/* State of loading the pages. */
struct loading {
    struct pages *pages;
    const char *dir;           /* SVC_DATA_DIR/www */
    const char *own_dir;       /* SVC_WWW_DIR, or NULL */
    struct problems *problems; /* its lines are allocated on the parent of pages */
    TALLOC_CTX *mem;
};

/* Report a fault of a file or directory; `own` is true if the file is the operator's. */
static void
problem(struct loading *loading, bool own, const char *why)
{
    problems_add(loading->mem, loading->problems,
                 own ? "SVC_WWW_DIR: %s; correct the page, or delete it to use the shipped one"
                     : "SVC_DATA_DIR: %s; correct the page or restore the one that comes with the "
                       "program",
                 why);
}

/* Return the path of a file: the operator's own, if there is one (*ret_own), else the shipped one.
 */
static char *
page_path(TALLOC_CTX *mem, const struct loading *loading, const char *name, bool *ret_own)
{
    *ret_own = loading->own_dir != NULL;
    if (loading->own_dir != NULL) {
        char *own = talloc_asprintf(mem, "%s/%s.html", loading->own_dir, name);
        if (own == NULL || access(own, F_OK) == 0)
            return own;
    }
    *ret_own = false;
    return talloc_asprintf(mem, "%s/%s.html", loading->dir, name);
}

static bool
load_file(struct loading *loading, const char *name)
{
    const char *why = "out of memory";
    TALLOC_CTX *mem = talloc_new(NULL);
    bool own, loaded = false;
    char *path = page_path(mem, loading, name, &own);
    size_t length = 0;
    char *text = path != NULL ? page_read_file(mem, path, TEMPLATE_SIZE_MAX, &length) : NULL;
    if (path != NULL && text == NULL)
        why = talloc_asprintf(mem, "%s: %s", path, strerror(errno));
    else if (text != NULL)
        loaded = templates_add(loading->pages->set, name, path, text, length, &why) == AZ_OK;
    if (!loaded)
        problem(loading, own, why);
    talloc_free(mem);
    return loaded;
}

/* Append one source of style-src for a <style>: 'sha256-...' (CSP 3 section 2.3.1). */
static enum az_status
add_style(void *arg, const char *text, size_t length)
{
    unsigned char hash[SHA256_OCTETS];
    enum az_status st = sha256(text, length, hash);
    char *word = st == AZ_OK ? b64_encode(NULL, hash, sizeof(hash)) : NULL;
    if (word == NULL)
        return AZ_SERVER_ERROR;
    st = buf_append_format(arg, " 'sha256-%s'", word);
    talloc_free(word);
    return st;
}

static const char *
style_sources(struct pages *pages, const char *name)
{
    BUF_AUTO out;
    buf_init(&out, pages, PAGE_CSP_MAX);
    if (templates_each_style(pages->set, name, add_style, &out) != AZ_OK)
        return NULL;
    return out.len > 0 ? buf_take(&out, NULL) : " 'none'";
}

/* True if a directory can be read. */
static bool
check_dir(struct loading *loading, const char *dir, bool own)
{
    if (access(dir, R_OK | X_OK) == 0)
        return true;
    problem(loading, own, talloc_asprintf(loading->mem, "%s: %s", dir, strerror(errno)));
    return false;
}

/* Load the pages, then the files that they include. */
static bool
load_files(struct loading *loading)
{
    bool loaded = true;
    if (!check_dir(loading, loading->dir, false)
        || (loading->own_dir != NULL && !check_dir(loading, loading->own_dir, true)))
        return false;
    for (size_t i = 0; i < PAGES; i++)
        loaded = load_file(loading, page_rows[i].name) && loaded;
    const char *name = NULL;
    for (size_t i = 0; loaded && i < PAGE_INCLUDES_MAX; i++)
        if ((name = templates_missing(loading->pages->set)) != NULL)
            loaded = load_file(loading, name);
    return loaded;
}

/* Check a page against its names and the common ones. */
static enum az_status
check_page(const struct pages *pages, const struct page_row *row, const char **ret_why)
{
    const char *names[COMMON + PAGE_VALUES];
    memcpy(names, page_common, sizeof(page_common));
    memcpy(names + COMMON, row->values, sizeof(row->values));
    return templates_check(pages->set, row->name, names,
                           json_object_get(pages->texts, LANGUAGE_ENGLISH), ret_why);
}

static bool
check_pages(struct loading *loading)
{
    bool right = true;
    for (size_t i = 0; i < PAGES; i++) {
        const char *why = "out of memory";
        struct pages *pages = loading->pages;
        enum az_status st = check_page(pages, &page_rows[i], &why);
        if (st == AZ_OK)
            pages->styles[i] = style_sources(pages, page_rows[i].name);
        pages->speaks[i] = templates_uses(pages->set, page_rows[i].name, "lang");
        bool own;
        const char *path = page_path(pages, loading, page_rows[i].name, &own);
        if (st == AZ_OK && pages->styles[i] == NULL)
            why = talloc_asprintf(loading->mem, "%s: too many style elements", path);
        if (pages->styles[i] != NULL)
            continue;
        problem(loading, own, why);
        right = false;
    }
    return right;
}

/* Add the logo as a template of the set: its text is ours, so it may stand in `src`, where no value
 * may. */
static bool
add_logo(struct loading *loading)
{
    const char *why = "out of memory", *text = loading->pages->site.logo;
    if (templates_add(loading->pages->set, PAGE_LOGO_TEMPLATE, "SVC_PAGES_LOGO", text, strlen(text),
                      &why)
        == AZ_OK)
        return true;
    problems_add(loading->mem, loading->problems, "SVC_PAGES_LOGO: %s", why);
    return false;
}

struct pages *
pages_load(TALLOC_CTX *mem, const struct settings *cfg, struct problems *problems)
{
    struct pages *pages = talloc_zero(mem, struct pages);
    struct loading loading = {
        .pages = pages, .problems = problems, .mem = mem, .own_dir = cfg->www_dir};
    if (pages == NULL)
        return NULL;
    pages->set = templates_new(pages);
    loading.dir = talloc_asprintf(pages, "%s/www", cfg->data_dir);
    const struct texts_told told = {mem, problems, &pages->warnings};
    bool site = page_site_load(pages, cfg, &pages->site, problems, mem);
    bool files = pages->set != NULL && loading.dir != NULL && site && add_logo(&loading)
                 && load_files(&loading);
    if (files && texts_load(pages, cfg, &told, &pages->texts) && check_pages(&loading))
        return pages;
    talloc_free(pages);
    return NULL;
}

static size_t
row_of(const char *name)
{
    size_t i = 0;
    while (i < PAGES && strcmp(page_rows[i].name, name) != 0)
        i++;
    return i;
}

/*
 * Return the source (CSP 3 section 2.3.1) of an origin or scheme; NULL: not a valid one. A blank or
 * semicolon would begin another source or directive. Only the scheme is named for schemes without
 * origins and for IPv6 addresses, which CSP cannot express (loopback redirects of native
 * applications, RFC 8252 7.3).
 */
static const char *
csp_source(TALLOC_CTX *mem, const char *origin)
{
    size_t scheme = strspn(origin, PAGE_SOURCE_CHARS);
    const char *rest = origin + scheme;
    bool web = strncmp(origin, "https:", 6) == 0 || strncmp(origin, "http:", 5) == 0;
    if (scheme == 0 || *rest != ':' || strpbrk(rest, " \t\r\n;,'*\"") != NULL)
        return NULL;
    if (rest[1] == '\0' || !web)
        return talloc_asprintf(mem, "%.*s:", (int) scheme, origin);
    if (strncmp(rest, "://", 3) != 0 || rest[3] == '\0')
        return NULL;
    if (rest[3] == '[')
        return talloc_asprintf(mem, "%.*s:", (int) scheme, origin);
    return rest[3 + strspn(rest + 3, PAGE_SOURCE_CHARS ":")] == '\0' ? origin : NULL;
}

/*
 * Return the sources to which a form may lead besides this server. Chromium checks every redirect
 * after the form, even those behind the client's redirect_uri: many command-line programs redirect
 * from their loopback address to a page of their vendor, and applications from one of their hosts
 * to another. So if a form leads to a client, any https address is allowed.
 */
static const char *
form_sources(TALLOC_CTX *mem, const char *origin)
{
    if (origin == NULL)
        return "";
    const char *source = csp_source(mem, origin);
    if (source == NULL || strcmp(source, "https:") == 0)
        return source != NULL ? " https:" : NULL;
    return talloc_asprintf(mem, " %s https:", source);
}

/*
 * Set the security headers: no script, no frame, nothing from elsewhere, and no page may frame ours
 * (clickjacking). No Cross-Origin-Opener-Policy: an application that signs in through a popup would
 * lose access to its window. A page that is there in one language has language NULL.
 */
static void
set_headers(struct request *req, const char *styles, const char *form, const char *language)
{
    respond_header(req, "Content-Security-Policy",
                   talloc_asprintf(req->op.mem,
                                   "default-src 'none'; style-src%s; img-src data:; form-action "
                                   "'self'%s; frame-ancestors 'none'; base-uri 'none'",
                                   styles, form));
    respond_header(req, "X-Frame-Options", "DENY");
    respond_header(req, "Referrer-Policy", "no-referrer");
    if (language == NULL)
        return;
    respond_header(req, "Content-Language", language);
    respond_header(req, "Vary", "Accept-Language");
}

const struct problems *
pages_warnings(const struct pages *pages)
{
    return &pages->warnings;
}

const json_t *
pages_texts(const struct pages *pages)
{
    return pages->texts;
}

const char *
page_language(const struct request *req, const json_t *by_tag)
{
    const char *locales = req->ui_locales;
    return language_best(by_tag, locales != NULL ? locales : request_param(req, "ui_locales"),
                         request_header(req, "HTTP_ACCEPT_LANGUAGE"));
}

/* Add the common values. False: out of memory. */
static bool
page_add_common(json_t *all, const struct page_site *site, const char *language,
                const json_t *texts)
{
    return json_object_set_new(all, "lang", json_string(language)) == 0
           && json_object_set(all, "dir", json_object_get(texts, TEXTS_DIRECTION)) == 0
           && json_object_set_new(all, "site", json_string(site->host)) == 0
           && json_object_set_new(all, "site_name", json_string(site->name)) == 0
           && json_object_set_new(all, "site_logo", json_boolean(*site->logo != '\0')) == 0;
}

enum az_status
respond_page(struct request *req, int status, const char *name, json_t *values,
             const char *form_action)
{
    const struct pages *pages = req->op.az->pages;
    const char *form = form_sources(req->op.mem, form_action), *why = "out of memory";
    size_t row = row_of(name), length = 0;
    json_t *all = jsonx_own(req->op.mem, jsonx_copy(values));
    BUF_AUTO out;
    buf_init(&out, req->op.mem, TEMPLATE_OUTPUT_MAX);
    if (pages == NULL || row == PAGES)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the page %s has no template", name);
    bool speaks = pages->speaks[row];
    const char *language = speaks ? page_language(req, pages->texts) : LANGUAGE_ENGLISH;
    const json_t *texts = json_object_get(pages->texts, language);
    if (form == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "page %s: a form cannot lead to %s", name,
                       form_action);
    if (all == NULL || !page_add_common(all, &pages->site, language, texts)
        || templates_fill(pages->set, name, all, texts, &out, &why) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "page %s: %s", name, why);
    const char *body = buf_take(&out, &length);
    enum az_status st = respond_octets(req, status, "text/html; charset=utf-8", body, length);
    if (st == AZ_OK)
        set_headers(req, pages->styles[row], form, speaks ? language : NULL);
    return st;
}

/* The sections of the error template by what failed; the first row that fits counts. */
static const struct error_row {
    int status;        /* 0: any */
    const char *error; /* NULL: any */
    const char *kind;  /* section, whose words the template has */
} error_rows[] = {
    {0,   "link_required",         "link"       },
    {0,   "link_invalid",          "link"       },
    {0,   "link_subject_mismatch", "link"       },
    {0,   "link_expired",          "link"       },
    {400, "access_denied",         "declined"   },
    {403, NULL,                    "closed"     },
    {429, NULL,                    "busy"       },
    {503, NULL,                    "unavailable"},
};

/* Return the section of the error template for a failure. */
static const char *
error_kind(const struct request *req, int status, const char *error)
{
    bool refused = status < 500 && status != 429;
    if (refused && req->route != NULL && req->route->path != NULL
        && strncmp(req->route->path, "/admin/", 7) == 0)
        return "console";
    for (size_t i = 0; i < sizeof(error_rows) / sizeof(error_rows[0]); i++) {
        const struct error_row *row = &error_rows[i];
        if ((row->status == 0 || row->status == status)
            && (row->error == NULL || strcmp(row->error, error) == 0))
            return row->kind;
    }
    return status >= 500 ? "broken" : "refused";
}

void
respond_error_page(struct request *req, int status, const char *error, const char *text,
                   const struct page_link *back)
{
    struct az_fault fault = req->op.fault;
    json_t *values = jsonx_own(
        req->op.mem, json_pack("{s:b,s:s*,s:s*,s:s*,s:s*,s:s*}", error_kind(req, status, error), 1,
                               "error", error, "text", text, "request_id", req->op.request_id,
                               "back_href", back != NULL ? back->href : NULL, "back_place",
                               back != NULL ? back->place : NULL));
    if (values == NULL || respond_page(req, status, "error", values, NULL) != AZ_OK) {
        const char *plain = talloc_asprintf(req->op.mem, "%s: %s\nRequest ID: %s\n", error, text,
                                            req->op.request_id);
        plain = plain != NULL ? plain : "";
        respond_octets(req, status, "text/plain; charset=utf-8", plain, strlen(plain));
    }
    req->op.fault = fault;
}
