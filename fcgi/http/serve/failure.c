#include "config.h"

#include "http/serve/failure.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "http/fetch/fetch_places.h"
#include "http/header_value.h"
#include "http/page/page.h"
#include "http/route.h"

/* Seconds that a caller should wait while the database or the engine cannot be reached, or all
 * places for fetches are taken. */
#define RETRY_AFTER "1"

/* Return the address that tells the client of the failure, with our issuer (RFC 6749 4.1.2.1, RFC
 * 9207). NULL: there is none, or no memory. */
static const char *
error_address(struct request *req, const struct az_status_row *row)
{
    const struct query_pair pairs[] = {
        {"error",             row->error                  },
        {"error_description", req->op.fault.public_text   },
        {"state",             req->state                  },
        {"iss",               req->op.az->cfg->oidc_issuer},
    };
    if (req->failure.redirect_uri == NULL
        || (req->failure.stands != NULL && !req->failure.stands(req)))
        return NULL;
    return query_append(req->op.mem, req->failure.redirect_uri, pairs,
                        sizeof(pairs) / sizeof(pairs[0]));
}

/* Send the failure to the client. False: it cannot be sent. */
static bool
redirect_error(struct request *req, const char *url)
{
    struct az_fault fault = req->op.fault;
    bool sent = respond_redirect(req, url) == AZ_OK;
    req->op.fault = fault;
    return sent;
}

/*
 * Answer with a page that asks again by itself. Half of the workers wait for other servers; nothing
 * of the request was used up, so the browser can repeat it, and no worker waits with it for long.
 * Only a GET: a form would come back without its parameters.
 */
static bool
busy_ask_again(struct request *req)
{
    struct az_fault fault = req->op.fault;
    if (fault.status != AZ_BUSY || strcmp(req->method, "GET") != 0)
        return false;
    json_t *values = jsonx_own(req->op.mem, json_object());
    bool shown = values != NULL && respond_page(req, 503, "busy", values, NULL) == AZ_OK;
    req->op.fault = fault;
    const char *refresh = fetch_place_refresh(&req->op);
    if (shown)
        respond_header(req, "Refresh", refresh != NULL ? refresh : RETRY_AFTER);
    return shown;
}

/* Answer with the page that the handler named. The client learns of the failure when the user
 * leaves it by the link. False: there is none, or it cannot be shown. */
static bool
show_named_page(struct request *req, const struct az_status_row *row, const char *url)
{
    struct az_fault fault = req->op.fault;
    if (req->failure.page == NULL)
        return false;
    struct jsonx_build values = {req->failure.values, false};
    jsonx_set(&values, "request_id", json_string(req->op.request_id));
    if (url != NULL && uri_redirect_fault(req->failure.redirect_uri) == NULL) {
        jsonx_set(&values, "leave_href", json_string(url));
        jsonx_set(&values, "leave_place",
                  json_string(uri_place(req->op.mem, req->failure.redirect_uri)));
        jsonx_set(&values, "leave_stranger", json_boolean(req->failure.by_link));
    }
    bool shown =
        respond_page(req, row->http, req->failure.page, jsonx_built(&values), NULL) == AZ_OK;
    req->op.fault = fault;
    return shown;
}

/* Answer the browser with a page, or its application with a redirect. If the address is not
 * trusted, a page offers the redirect as a link, so that a link to this service leads a user to
 * another site only by the user's own decision (RFC 9700 4.11.2). */
static void
write_page_error(struct request *req, const struct az_status_row *row)
{
    char text[sizeof(req->op.fault.public_text)];
    if (busy_ask_again(req))
        return;
    const char *url = error_address(req, row);
    if (show_named_page(req, row, url))
        return;
    if (url != NULL && !req->failure.by_link && redirect_error(req, url))
        return;
    bool linked = url != NULL && req->failure.by_link
                  && uri_redirect_fault(req->failure.redirect_uri) == NULL;
    const struct page_link link = {url, linked ? uri_place(req->op.mem, req->failure.redirect_uri)
                                               : NULL};
    memcpy(text, req->op.fault.public_text, sizeof(text));
    respond_error_page(req, row->http, row->error, text, linked ? &link : NULL);
}

/* Answer with {error, error_description}, which the gateway's caller finds again by request_id
 * (gateway-admin.md 3.1), or with req->error_body; without a body for the admin API's 404
 * (specification 7.2). */
static void
write_json_error(struct request *req, const struct az_status_row *row)
{
    const struct az_fault *fault = &req->op.fault;
    if (req->error_is_empty || (req->route->dialect == DIALECT_ADMIN && row->http == 404)) {
        respond_octets(req, row->http, NULL, "", 0);
        return;
    }
    bool gateway = req->route->dialect == DIALECT_GATEWAY;
    json_t *body =
        req->error_body != NULL
                && (gateway || row->http == 400 || row->http == 409 || row->http == 422)
            ? req->error_body
            : jsonx_own(req->op.mem, json_pack("{s:s,s:s,s:s*}", "error", row->error,
                                               "error_description", fault->public_text,
                                               "request_id", gateway ? req->op.request_id : NULL));
    if (body == NULL || respond_json(req, row->http, body) != AZ_OK)
        respond_octets(req, row->http, NULL, "", 0);
    /* RFC 6750 3.1: a token that lacks a scope is 403 with a challenge. */
    if ((row->http == 401 || fault->status == AZ_INSUFFICIENT_SCOPE)
        && (gateway || req->route->dialect == DIALECT_OAUTH)) {
        respond_header(req, "WWW-Authenticate", req->challenge);
        respond_header(req, "WWW-Authenticate", req->dpop_challenge);
    }
}

/*
 * Answer a browser that opened an address without a page. Accept decides, not the dialect of the
 * row: a program that calls /token or /admin/api names JSON or a wildcard. Sec-Fetch-Mode is not
 * read, because browsers send it only to https and to localhost. False: the caller is no browser,
 * or the page cannot be shown.
 */
static bool
write_not_found_page(struct request *req)
{
    if (!header_prefers_html(request_header(req, "HTTP_ACCEPT")))
        return false;
    struct az_fault fault = req->op.fault;
    json_t *values = jsonx_own(req->op.mem, json_pack("{s:s}", "request_id", req->op.request_id));
    bool shown = values != NULL && respond_page(req, 404, "not_found", values, NULL) == AZ_OK;
    req->op.fault = fault;
    if (shown && (req->route->cache == CACHE_NONE || req->route->cache == CACHE_OWN))
        respond_header(req, "Cache-Control", "no-store");
    return shown;
}

/* True if the caller can show a page. A program at a page's address gets the 429 that the
 * specification words (specification 7.3); a browser names text/html when it opens a page. */
static bool
shows_page(const struct request *req)
{
    const char *accept = request_header(req, "HTTP_ACCEPT");
    return req->op.fault.status != AZ_TOO_MANY_REQUESTS
           || (accept != NULL && strcasestr(accept, "text/html") != NULL);
}

void
respond_failure(struct request *req)
{
    const struct az_status_row *row = az_status_row(req->op.fault.status);
    if (req->route->dialect == DIALECT_PAGE && shows_page(req))
        write_page_error(req, row);
    else if (row->http != 404 || !write_not_found_page(req))
        write_json_error(req, row);
    if (row->http == 404) /* a cache may keep a 404 (RFC 9110 15.5.5) */
        respond_header(req, "Vary", "Accept");
    if (row->http == 503)
        respond_header(req, "Retry-After", RETRY_AFTER);
}
