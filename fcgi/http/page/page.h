/* HTML pages: templates of SVC_DATA_DIR/www, or of SVC_WWW_DIR where it has the file, filled with
 * escaped values, no JavaScript, a strict Content-Security-Policy (decisions.md "Browser side"). */
#ifndef AZ_HTTP_PAGE_PAGE_H
#define AZ_HTTP_PAGE_PAGE_H

#include <jansson.h>

#include "base/settings/settings.h"
#include "http/request.h"

/* The templates of a process. */
struct pages;

/*
 * Read and check all pages. NULL: at least one is missing or broken, or there is no memory. Each
 * fault is a line of `problems` that names the setting, the file and line, and the remedy.
 */
struct pages *pages_load(TALLOC_CTX *mem, const struct settings *cfg, struct problems *problems);

/* Return the warnings of the load: texts that are missing in a language or not used, each with its
 * file. */
const struct problems *pages_warnings(const struct pages *pages);

/* Return the texts of the pages, an object by language tag. */
const json_t *pages_texts(const struct pages *pages);

/* Return the member of an object by language tag that fits the request best: by req->ui_locales or
 * the parameter of that name, else by Accept-Language, else English; NULL if no member fits. */
const char *page_language(const struct request *req, const json_t *by_tag);

/*
 * Answer with a page and the security headers. `name` is a template, `values` an object of strings,
 * booleans and arrays of such objects (borrowed). `form_action`: an origin or scheme
 * ("https://app.example", "com.example.app:") to which a form of the page may lead besides this
 * server, or NULL. Chromium blocks the redirect otherwise; any https address is allowed with it.
 * AZ_SERVER_ERROR: no templates, or not an origin.
 *
 * The names of the values are in page_rows.c, and the head of each template says what they are.
 * `site` (host of the issuer), `site_name` (SVC_PAGES_NAME, or the host), `site_logo` (true if
 * there is a logo), `lang` and `dir` (of the language of the page) are on every page. A missing
 * value counts as empty or false.
 *
 * The form of `consent` posts `id` and `decision` (allow or deny), that of `ciba` posts `request`,
 * `token` and `decision` (approve or deny), that of `logout` posts `token`.
 * Pages are sent with Referrer-Policy: no-referrer, so a form arrives with `Origin: null`.
 */
enum az_status respond_page(struct request *req, int status, const char *name, json_t *values,
                            const char *form_action);

/* A link of the error page, with the text that names its place. */
struct page_link {
    const char *href;
    const char *place; /* host, or scheme of a private-use scheme */
};

/* Answer with the error page: the reason in words, the request id, and a link back to the
 * application (or NULL). Never fails: without the template the page is plain text. The recorded
 * fault stays as it is. */
void respond_error_page(struct request *req, int status, const char *error, const char *text,
                        const struct page_link *back);

#endif
