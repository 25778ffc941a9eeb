#include "config.h"

#include "http/api/reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/settings/settings.h"
#include "http/page/page_site.h"
#include "http/route.h"

/* Largest file, in octets: ten times the script that comes with the program. */
#define READER_FILE_MAX (256 * 1024)

/* Caches ask each time, by the ETag: after an upgrade page, script and style are of one version. */
#define READER_MAX_AGE 0

/*
 * Content of this server alone, no script or style within the page, no frame (clickjacking), no
 * form that is sent. Browsers that know Trusted Types refuse to read a text as HTML: the page shows
 * answers of the server, which may contain texts of strangers (client names).
 */
#define READER_CSP                                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " \
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'; "                                \
    "require-trusted-types-for 'script'; trusted-types 'none'"

const struct reader_file reader_page = {"swagger-ui/index.html", "text/html; charset=utf-8"};
const struct reader_file reader_style = {"swagger-ui/reader.css", "text/css; charset=utf-8"};
const struct reader_file reader_script = {"swagger-ui/reader.js", "text/javascript; charset=utf-8"};

/* Return the path of the operator's own file if there is one, else that of the shipped file. */
static const char *
reader_path(struct request *req, const char *name)
{
    const struct settings *cfg = req->op.az->cfg;
    const char *own =
        cfg->www_dir != NULL ? talloc_asprintf(req->op.mem, "%s/%s", cfg->www_dir, name) : NULL;
    if (own != NULL && access(own, F_OK) == 0)
        return own;
    return talloc_asprintf(req->op.mem, "%s/www/%s", cfg->data_dir, name);
}

/* Read a file. It is not kept: the reader is opened rarely, and a worker's memory is for tokens. */
static enum az_status
reader_read(struct request *req, const char *path, const char **ret_text, size_t *ret_length)
{
    if (path == NULL)
        return op_no_memory(&req->op);
    *ret_text = page_read_file(req->op.mem, path, READER_FILE_MAX, ret_length);
    if (*ret_text == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "%s: %s", path, strerror(errno));
    if (*ret_length > READER_FILE_MAX)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "%s: the file has more than %d octets",
                       path, READER_FILE_MAX);
    return AZ_OK;
}

/* The Cross-Origin-Opener-Policy takes the window away from a page that opens this one: it could
 * lead the user, who types an admin key here, to a copy on another site. */
static void
reader_headers(struct request *req)
{
    respond_header(req, "Content-Security-Policy", READER_CSP);
    respond_header(req, "X-Frame-Options", "DENY");
    respond_header(req, "Referrer-Policy", "no-referrer");
    respond_header(req, "Cross-Origin-Opener-Policy", "same-origin");
    respond_header(req, "Cross-Origin-Resource-Policy", "same-origin");
}

enum az_status
reader_file_handle(struct request *req)
{
    const struct reader_file *file = req->route->arg;
    const char *text = NULL;
    size_t length = 0;
    if (!req->op.az->cfg->swagger_enabled)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
    enum az_status st = reader_read(req, reader_path(req, file->name), &text, &length);
    if (st == AZ_OK)
        st = respond_octets(req, 200, file->type, text, length);
    if (st == AZ_OK)
        st = respond_cached(req, READER_MAX_AGE);
    if (st == AZ_OK)
        reader_headers(req);
    return st;
}

enum az_status
reader_open_handle(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    if (!cfg->swagger_enabled)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
    const char *url = talloc_asprintf(req->op.mem, "%s/swagger-ui/", cfg->oidc_issuer);
    if (url == NULL)
        return op_no_memory(&req->op);
    return respond_redirect(req, url);
}
