/* Request targets and the rows they lead to. An input is the lines target, method, X-Request-ID and
 * User-Agent. */
#include "config.h"

#include <string.h>

#include "base/settings/settings.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "gateway/process/gateway_process.h"
#include "http/fake_io.h"
#include "http/match.h"

enum { LINE_TARGET, LINE_METHOD, LINE_ID, LINE_AGENT, LINES };

#define ISSUER "https://as.example"
#define BASE "/auth"
#define ID_MAX 128 /* octets of an X-Request-ID that is echoed (decisions.md "X-Request-ID") */

static struct request *
read_head(TALLOC_CTX *mem, const char *issuer, const char *target, char *const *line)
{
    struct settings *cfg = talloc_zero(mem, struct settings);
    struct az *az = talloc_zero(mem, struct az);
    az->gateway = talloc_zero(az, struct gateway_process);
    const char *set[] = {"REQUEST_URI",
                         target,
                         "REQUEST_METHOD",
                         line[LINE_METHOD],
                         "HTTP_X_REQUEST_ID",
                         line[LINE_ID],
                         "HTTP_USER_AGENT",
                         line[LINE_AGENT],
                         NULL};
    struct fake *fake = fake_new(mem, set, "");
    struct request *req = fake_request(mem, NULL, NULL);

    cfg->oidc_issuer = (char *) (uintptr_t) issuer;
    az->cfg = cfg;
    req->op.az = az;
    enum az_status st = request_read_head(req, &fake->io);
    MUST(st == AZ_OK || st == AZ_INVALID_REQUEST);
    MUST(req->op.fault.status == st);
    fake->set = NULL;
    return req;
}

/* Texts that go into the log and into headers cannot break out of their place. */
static void
check_labels(const struct request *req, const char *agent)
{
    size_t length = strlen(req->op.request_id);
    MUST(length >= 1 && length <= ID_MAX);
    for (const char *c = req->op.request_id; *c != '\0'; c++)
        MUST((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z')
             || strchr("._-", *c) != NULL);
    if (req->user_agent == NULL)
        return;
    length = strlen(req->user_agent);
    MUST(length >= 1 && length <= AUDIT_USER_AGENT_MAX && utf8_valid(req->user_agent, length));
    MUST(strncmp(req->user_agent, agent, length) == 0);
}

static bool
is_visible(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= 0x20 || *text >= 0x7f)
            return false;
    return true;
}

static unsigned
count(const char *text, char wanted)
{
    unsigned found = 0;
    for (; *text != '\0'; text++)
        found += *text == wanted;
    return found;
}

/* The segments of a path, without the slash that a row takes at its end. */
static unsigned
segments(const struct route *row, const char *path)
{
    unsigned found = count(path, '/');
    return row->slash && found == count(row->path, '/') + 1 && path[strlen(path) - 1] == '/'
               ? found - 1
               : found;
}

/* Raw segments of the path are the pattern's own, and a value is one segment. */
static void
check_values(const struct route *row, const char *path, const char *const *values)
{
    size_t value = 0;
    bool below = strstr(row->path, "/**") != NULL;
    MUST(below ? count(path, '/') + 1 >= count(row->path, '/')
               : segments(row, path) == count(row->path, '/'));
    MUST(strncmp(path, row->path, strcspn(row->path, "{")) == 0);
    for (const char *at = strchr(row->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        const char *text = values[value++];
        MUST(text != NULL && *text != '\0' && utf8_valid(text, strlen(text)));
        MUST(strlen(text) < strlen(path));
    }
    if (below) { /* the rest is the end of the raw path */
        const char *rest = values[value++];
        MUST(rest != NULL && (*rest == '/' || *rest == '\0'));
        MUST(strcmp(path + strlen(path) - strlen(rest), rest) == 0);
    }
    MUST(value == HTTP_PATH_VALUES_MAX || values[value] == NULL);
}

/* Each method that Allow names finds a row of the path. */
static void
check_allow(TALLOC_CTX *mem, const char *allow, const char *path)
{
    const char *values[HTTP_PATH_VALUES_MAX] = {NULL}, *none;
    const struct route *row, *other;
    for (const char *at = allow; at != NULL && *at != '\0'; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",");
        const char *method = talloc_strndup(mem, at, length);
        MUST(route_find(mem, NULL, method, path, values, &row, &other, &none) == AZ_OK
             && strcmp(row->method, method) == 0);
        at += length;
    }
}

static void
check_route(TALLOC_CTX *mem, const char *method, const char *path)
{
    const char *values[HTTP_PATH_VALUES_MAX] = {NULL}, *allow = NULL;
    const struct route *row = NULL, *other = NULL;
    enum az_status st = route_find(mem, NULL, method, path, values, &row, &other, &allow);
    if (st == AZ_OK) {
        MUST(strcmp(row->method, method) == 0
             || (strcmp(method, "HEAD") == 0 && strcmp(row->method, "GET") == 0));
        check_values(row, path, values);
    } else {
        for (size_t i = 0; i < HTTP_PATH_VALUES_MAX; i++)
            MUST(values[i] == NULL);
        MUST((other == NULL) == (allow == NULL));
        MUST(other == NULL
             || ((segments(other, path) == count(other->path, '/')
                  || strstr(other->path, "/**") != NULL)
                 && strncmp(path, other->path, strcspn(other->path, "{")) == 0));
        check_allow(mem, allow, path);
    }
}

static bool
same(const struct request *a, const struct request *b)
{
    return a->op.fault.status == b->op.fault.status && strcmp(a->path, b->path) == 0
           && strcmp(a->query, b->query) == 0;
}

static bool
is_below(const char *target)
{
    size_t length = strlen(BASE);
    return strncmp(target, BASE, length) == 0
           && (target[length] == '\0' || target[length] == '/' || target[length] == '?');
}

/* The same target as an absolute one (RFC 9112 3.2.2) and below an issuer's own path leads to the
 * same place; what only begins like that path is left as it is. */
static void
check_forms(TALLOC_CTX *mem, const struct request *plain, const char *target, char *const *line)
{
    const char *absolute = talloc_asprintf(mem, "https://h.example:8443%s", target);
    const char *below = talloc_asprintf(mem, BASE "%s", target);
    if (*target != '/' || strlen(absolute) > HTTP_TARGET_MAX)
        return;
    MUST(same(read_head(mem, ISSUER, absolute, line), plain));
    MUST(same(read_head(mem, ISSUER BASE, below, line), plain));
    if (!is_below(target) && strncmp(target, "/.well-known/", 13) != 0)
        MUST(same(read_head(mem, ISSUER BASE, target, line), plain));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *text = talloc_strndup(mem, (const char *) data, size), *end = text + strlen(text);
    char *line[LINES] = {end, end, end, end};

    for (size_t i = 0; i < LINES && text != NULL; i++)
        line[i] = strsep(&text, "\n");
    const char *target = line[LINE_TARGET];
    struct request *req = read_head(mem, ISSUER, target, line);
    check_labels(req, line[LINE_AGENT]);
    if (*target == '\0')
        MUST(req->op.fault.status == AZ_INVALID_REQUEST);
    else if (strlen(target) > HTTP_TARGET_MAX)
        MUST(req->op.fault.status == AZ_INVALID_REQUEST
             || req->op.fault.status == AZ_TARGET_TOO_LONG);
    else if (*target == '/')
        MUST((req->op.fault.status == AZ_OK) == is_visible(target));
    if (req->op.fault.status == AZ_OK) {
        MUST(*req->path != '\0' && strchr(req->path, '?') == NULL);
        MUST(is_visible(req->path) && is_visible(req->query));
        if (*target == '/')
            MUST(strlen(req->path) + strlen(req->query) + (strchr(target, '?') != NULL)
                     == strlen(target)
                 && strncmp(target, req->path, strlen(req->path)) == 0);
        check_route(mem, req->method, req->path);
    }
    check_forms(mem, req, target, line);
    talloc_free(mem);
    return 0;
}
