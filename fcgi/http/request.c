#include "config.h"

#include "http/request.h"

#include <string.h>
#include <time.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "crypto/random.h"
#include "http/address.h"
#include "http/route.h"

/* Longest well-formed X-Request-ID, in octets. */
#define REQUEST_ID_MAX 128

const char *
request_header(const struct request *req, const char *cgi_name)
{
    const char *value = req->io->variable(req->io, cgi_name);
    if (value == NULL || strlen(value) > HTTP_HEADER_MAX)
        return NULL;
    return value;
}

const char *
request_param(const struct request *req, const char *name)
{
    for (size_t i = 0; i < req->params; i++)
        if (strcmp(req->param[i].name, name) == 0)
            return req->param_repeated[i] ? NULL : req->param[i].value;
    return NULL;
}

bool
request_param_repeated(const struct request *req, const char *name)
{
    for (size_t i = 0; i < req->params; i++)
        if (strcmp(req->param[i].name, name) == 0)
            return req->param_repeated[i];
    return false;
}

/* True if the id can be echoed: 1 to 128 of A-Za-z0-9._-. Any other is replaced, so that no caller
 * can write into our log or headers. */
static bool
request_id_ok(const char *text)
{
    size_t len = text != NULL ? strlen(text) : 0;
    return len >= 1 && len <= REQUEST_ID_MAX
           && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
                  == len;
}

static const char *
make_request_id(struct request *req)
{
    const char *id = random_uuid7(req->op.mem, req->op.now_ms);
    return id != NULL ? id : "none";
}

/* True if text begins with the base and the base ends where a segment ends. */
static bool
begins_with_base(const char *text, const char *base, size_t length)
{
    return strncmp(text, base, length) == 0 && memchr("/?", text[length], 3) != NULL;
}

/*
 * Return the target without the issuer's path, so that routes match below /auth or
 * /~user/authz.fcgi too. RFC 8414 3.1 puts that path after the name of a metadata document:
 * /.well-known/openid-configuration/auth.
 */
static const char *
strip_base(TALLOC_CTX *mem, const char *issuer, const char *target)
{
    static const char known[] = "/.well-known/";
    const char *authority = strstr(issuer, "://");
    const char *base = authority != NULL ? strchr(authority + 3, '/') : NULL;
    size_t length = base != NULL ? strlen(base) : 0;
    if (length == 0)
        return target;
    if (begins_with_base(target, base, length))
        return target + length;
    size_t name = strncmp(target, known, sizeof(known) - 1) == 0
                      ? sizeof(known) - 1 + strcspn(target + sizeof(known) - 1, "/?")
                      : 0;
    if (name > 0 && begins_with_base(target + name, base, length))
        return talloc_asprintf(mem, "%.*s%s", (int) name, target, target + name + length);
    return target;
}

/* Skip scheme and host of an absolute-form target (RFC 9112 3.2.2). */
static const char *
skip_authority(const char *target)
{
    if (strncmp(target, "http://", 7) != 0 && strncmp(target, "https://", 8) != 0)
        return target;
    const char *authority = strstr(target, "://") + 3;
    target = authority + strcspn(authority, "/?#");
    return *target == '/' ? target : "/"; /* a slash in the query does not begin a path */
}

static enum az_status
request_read_target(struct request *req)
{
    const char *target = req->io->variable(req->io, "REQUEST_URI");
    if (target == NULL || *target == '\0')
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The request has no target",
                       "the web server does not pass REQUEST_URI");
    bool too_long = strlen(target) > HTTP_TARGET_MAX;
    target = strip_base(req->op.mem, req->op.az->cfg->oidc_issuer, skip_authority(target));
    if (target == NULL)
        return op_no_memory(&req->op);
    for (const char *c = target; *c != '\0'; c++)
        if ((unsigned char) *c <= 0x20 || (unsigned char) *c >= 0x7f)
            return op_fail(&req->op, AZ_INVALID_REQUEST,
                           "The request target contains a forbidden character", NULL);
    size_t length = strcspn(target, "?");
    req->path = length == 0 ? "/" : talloc_strndup(req->op.mem, target, length);
    req->query = target[length] == '?' && !too_long ? target + length + 1 : "";
    if (req->path == NULL)
        return op_no_memory(&req->op);
    return too_long ? op_fail(&req->op, AZ_TARGET_TOO_LONG, NULL,
                              "the target has more than %d octets", HTTP_TARGET_MAX)
                    : AZ_OK;
}

enum az_status
request_read_head(struct request *req, const struct http_io *io)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    req->op.now_ms = (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
    req->io = io;
    req->path = "";
    req->query = "";
    /* Copied, because the log line is written when the gateway's variables are gone. */
    const char *method = io->variable(io, "REQUEST_METHOD");
    req->method = talloc_strdup(req->op.mem, method != NULL ? method : "");
    const char *given = request_header(req, "HTTP_X_REQUEST_ID");
    req->op.request_id =
        request_id_ok(given) ? talloc_strdup(req->op.mem, given) : make_request_id(req);
    if (req->method == NULL || req->op.request_id == NULL) {
        req->method = "";
        req->op.request_id = "none";
        return op_no_memory(&req->op);
    }
    req->ip = address_of_client(req->op.mem, io->variable(io, "REMOTE_ADDR"),
                                io->variable(io, "HTTP_X_FORWARDED_FOR"), /* of any length */
                                req->op.az->cfg->trusted_proxy_count);
    req->op.address = req->ip;
    const char *agent = request_header(req, "HTTP_USER_AGENT");
    if (agent != NULL && *agent != '\0' && utf8_valid(agent, strlen(agent))) {
        req->user_agent = utf8_strndup(req->op.mem, agent, AUDIT_USER_AGENT_MAX);
        if (req->user_agent == NULL) /* a rule may be about it */
            return op_no_memory(&req->op);
    }
    return request_read_target(req);
}

bool
request_has_unnamed_proxy(const struct request *req)
{
    return req->op.az->cfg->trusted_proxy_count == 0
           && req->io->variable(req->io, "HTTP_X_FORWARDED_FOR") != NULL;
}

bool
request_target_fits(const char *url)
{
    const char *authority = strstr(url, "://");
    const char *target = authority != NULL ? strchr(authority + 3, '/') : NULL;
    return target != NULL && strlen(target) <= HTTP_TARGET_MAX;
}

/* Return the summary with who acts: {"actor": {"key" or "person", "role"}}. One that is no object,
 * or for which there is no memory, stays as it is. */
static const char *
name_actor(const struct request *req, const char *summary)
{
    TALLOC_CTX *mem = req->op.mem;
    json_t *object = jsonx_own(mem, json_object());
    if (summary != NULL
        && jsonx_parse(mem, summary, strlen(summary), AUDIT_SUMMARY_DEPTH_MAX, &object, NULL)
               != AZ_OK)
        return summary;
    json_t *actor = json_pack("{s:s*,s:s*,s:s}", "key", req->admin.id, "person", req->admin.subject,
                              "role", admin_role_word(req->admin.role));
    return json_object_set_new(object, "actor", actor) == 0 ? jsonx_dump(mem, object) : summary;
}

void
request_fill_audit(struct request *req, int http_status, const char *outcome)
{
    if (req->audit_more != NULL)
        req->audit_more(req);
    struct audit_entry *entry = &req->audit;
    entry->request_id = req->op.request_id;
    entry->endpoint = req->route->path;
    entry->operation = req->route->operation;
    entry->method = req->method;
    entry->http_status = http_status;
    entry->outcome = outcome;
    entry->ip = req->ip;
    entry->user_agent = req->user_agent;
    if (entry->client_id == NULL && req->admin.subject == NULL)
        entry->client_id = req->admin.label;
    if (entry->subject_id == NULL)
        entry->subject_id = req->admin.subject;
    if (req->admin.id != NULL || req->admin.subject != NULL)
        entry->summary = name_actor(req, entry->summary);
}

/* ---- where a failure goes */

void
failure_to_client(struct request *req, const struct failure_target *target)
{
    const struct failure_target before = req->failure;
    req->failure = *target;
    req->failure.page = before.page;
    req->failure.values = before.values;
}

void
failure_to_page(struct request *req)
{
    failure_to_client(req, &(const struct failure_target){.redirect_uri = NULL});
}

void
failure_client_is_current(struct request *req)
{
    req->failure.remembered = false;
}

void
failure_judge(struct request *req, bool by_link)
{
    req->failure.by_link = by_link;
    req->failure.judged = true;
}

void
failure_show(struct request *req, const char *page, json_t *values)
{
    req->failure.page = page;
    req->failure.values = values;
}
