#include "config.h"

#include "http/serve/dispatch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/uuid7.h"
#include "crypto/keyring.h"
#include "env.h"
#include "http/fake_io.h"
#include "http/route.h"
#include "http/shared.h"
#include "policy/engine/engine.h"
#include "store/clients/clients.h"
#include "store/db/db.h"
#include "tap.h"

#define BUNDLE_KEY "a bundle key of the tests"

/* Make a process without database and engine; what needs them is answered as unavailable. */
static struct az *
make_process(TALLOC_CTX *mem)
{
    struct az *az = env_az(mem);
    az->db = db_new(az, "host=/nonexistent");
    az->keyring = keyring_new(az, az->cfg->credential_key, az->cfg->admin_pepper);
    az->clients = client_cache_new(az);
    az->engine = engine_new(az, "unix:/nonexistent/opa.sock", 100);
    return az;
}

struct exchange {
    struct fake *fake; /* the answer */
    char *log;         /* the logged lines */
};

/* Answer one request and keep its log lines. */
static struct exchange
answer(TALLOC_CTX *mem, struct az *az, const char *const *set, const char *body)
{
    struct exchange exchange = {.fake = fake_new(mem, set, body)};
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    if (file == NULL || before < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        exit(99);
    dispatch(az, &exchange.fake->io);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    exchange.log = talloc_zero_size(mem, 8192);
    exchange.log[fread(exchange.log, 1, 8191, file)] = '\0';
    fclose(file);
    return exchange;
}

/* Send a request with up to two headers; name NULL: none. */
static struct exchange
ask(TALLOC_CTX *mem, struct az *az, const char *method, const char *target, const char *name,
    const char *value)
{
    const char **set = talloc_zero_array(mem, const char *, 11);
    size_t used = 0;
    set[used++] = "REMOTE_ADDR", set[used++] = "192.0.2.7";
    set[used++] = "REQUEST_SCHEME", set[used++] = "https"; /* way-t.c is about others */
    if (method != NULL)
        set[used++] = "REQUEST_METHOD", set[used++] = method;
    if (target != NULL)
        set[used++] = "REQUEST_URI", set[used++] = target;
    if (name != NULL)
        set[used++] = name, set[used++] = value;
    return answer(mem, az, set, NULL);
}

/* clang-format off */
static const struct {
    const char *method, *target;
    int status;
    const char *body;  /* whole body; NULL: not checked */
    const char *allow; /* Allow header */
    const char *name;
} cases[] = {
    {"GET", "/health/live", 200, "{\"status\":\"UP\"}\n", NULL, "a path of the table; JSON ends with a line feed (decisions.md \"Answers end a line\")"},
    {"HEAD", "/health/live", 200, "", NULL, "HEAD: the head alone (RFC 9110 9.3.2)"},
    {"GET", "/health/live?a=b", 200, NULL, NULL, "a query is no part of the path"},
    {"GET", "/health/live?", 200, NULL, NULL, "... an empty one neither"},
    {"GET", "http://as.example/health/live", 200, NULL, NULL, "an absolute target (RFC 9112 3.2.2)"},
    {"GET", "https://evil.example/health/live", 200, NULL, NULL, "... its host decides nothing"},
    {"GET", "http://as.example", 404, NULL, NULL, "... without path it is the root"},
    {"GET", "http://as.example?x=/health/live", 404, NULL, NULL, "... a slash in its query begins no path (RFC 3986 3.2): a web server's rule about paths would be passed by"},
    {"GET", "https://as.example?/admin/api/clients", 404, NULL, NULL, "... nor does one below /admin"},
    {"GET", "http://as.example#/health/live", 404, NULL, NULL, "... nor one in a fragment"},
    {"GET", "http://as.example/health/live?x=/nothing", 200, NULL, NULL, "... and behind a path the query may hold slashes"},
    {"GET", "/", 404, NULL, NULL, "the root"},
    {"GET", "/nothing", 404, NULL, NULL, "an unknown path"},
    {"GET", "/health/live/", 404, NULL, NULL, "a final slash more"},
    {"GET", "/health//live", 404, NULL, NULL, "a double slash"},
    {"GET", "/./health/live", 404, NULL, NULL, "dots are not resolved"},
    {"GET", "/x/../health/live", 404, NULL, NULL, "... which would reach what the web server keeps back"},
    {"GET", "/health%2Flive", 404, NULL, NULL, "an escaped slash"},
    {"POST", "/health/live", 405, NULL, "GET", "another method (oauth.md C1)"},
    {"TRACE", "/health/live", 405, NULL, "GET", "TRACE echoes nothing"},
    {"", "/health/live", 405, NULL, "GET", "no method"},
    {NULL, "/health/live", 405, NULL, "GET", "... or none passed"},
    {"GET", "/token", 405, NULL, "POST", "GET /token: credentials do not belong into a URI"},
    {"GET", NULL, 400, NULL, NULL, "no target: the web server is not configured"},
    {"GET", "", 400, NULL, NULL, "an empty target"},
    {"GET", "/health/live\x01", 400, NULL, NULL, "a control character"},
    {"GET", "/health live", 400, NULL, NULL, "a blank"},
    {"GET", "/health/live\r\nX: y", 400, NULL, NULL, "a line end"},
    {"GET", "/health/live\x7f", 400, NULL, NULL, "DEL"},
    {"GET", "/\xc3\xa4", 400, NULL, NULL, "an octet that is not ASCII"},
    {"GET", "/health/live?\xff", 400, NULL, NULL, "... in the query too"},
    {"GET", "health/live", 404, NULL, NULL, "no slash in front"},
    {"GET", "*", 404, NULL, NULL, "an asterisk"},
    {"GET", "/admin/nothing", 401, NULL, NULL, "an unknown path below /admin asks for the key first (specification 5.3)"},
    {"GET", "/admin/", 401, NULL, NULL, "... the place itself too"},
    {"DELETE", "/admin/api/admin-keys", 401, NULL, NULL, "... a wrong method does too, and no Allow says that the path exists"},
    {"GET", "/admin/api/clients", 401, NULL, NULL, "... as does a path that exists"},
    {"GET", "/admin", 404, NULL, NULL, "/admin alone is not below it"},
    {"GET", "/Admin/api/clients", 404, NULL, NULL, "nor is another spelling"},
    {"GET", "/bundles/svc", 401, NULL, NULL, "the bundle asks for its key (specification 5)"},
    {"POST", "/bundles/status", 401, NULL, NULL, "... and so does the status push"},
};
/* clang-format on */

/* Check the rules that hold for every answer. */
static void
check_answer(const struct exchange *exchange, const char *method)
{
    const struct fake *fake = exchange->fake;
    const char *body = fake_body(fake), *length = fake_header(fake, "Content-Length");
    is_int(fake->finished, 1, "... is finished once");
    ok(body != NULL && length != NULL
           && (strcmp(method, "HEAD") == 0
               || (size_t) atoi(length) == fake->answer_length - (size_t) (body - fake->answer)),
       "... its length is right (RFC 9110 8.6)");
    is_int(fake_header_count(fake, "X-Request-ID"), 1,
           "... one request id (decisions.md \"X-Request-ID\")");
    is_str(fake_header(fake, "X-Content-Type-Options"), "nosniff", "... nosniff");
    unsigned lines = 0;
    for (const char *c = exchange->log; *c != '\0'; c++)
        lines += *c == '\n';
    is_int(lines, 1, "... one log line");
    if (fake_status(fake) >= 400 && *body != '\0') {
        json_error_t error;
        json_t *json = json_loads(body, 0, &error);
        ok(json_is_string(json_object_get(json, "error"))
               && json_is_string(json_object_get(json, "error_description")),
           "... the failure is {error, error_description}");
        json_decref(json);
    }
}

static void
test_cases(TALLOC_CTX *mem, struct az *az)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct exchange got = ask(mem, az, cases[i].method, cases[i].target, NULL, NULL);
        is_int(fake_status(got.fake), cases[i].status, "%s", cases[i].name);
        if (cases[i].body != NULL)
            is_str(fake_body(got.fake), cases[i].body, "... body");
        is_str(fake_header(got.fake, "Allow"), cases[i].allow, "... Allow");
        check_answer(&got, cases[i].method != NULL ? cases[i].method : "");
    }
    struct exchange get = ask(mem, az, "GET", "/health/live", NULL, NULL),
                    head = ask(mem, az, "HEAD", "/health/live", NULL, NULL);
    is_str(fake_header(head.fake, "Content-Length"), fake_header(get.fake, "Content-Length"),
           "HEAD tells GET's length (RFC 9110 9.3.2)");
    is_str(fake_header(get.fake, "Cache-Control"), "no-store", "cache headers are the row's");
    char *target = talloc_zero_size(mem, HTTP_TARGET_MAX + 2);
    memset(target, 'a', HTTP_TARGET_MAX + 1);
    memcpy(target, "/health/live?", 13);
    is_int(fake_status(ask(mem, az, "GET", target, NULL, NULL).fake), 414,
           "a target of %d octets is 414 (decisions.md \"Long targets\")", HTTP_TARGET_MAX + 1);
    target[HTTP_TARGET_MAX] = '\0';
    is_int(fake_status(ask(mem, az, "GET", target, NULL, NULL).fake), 200, "... one of %d is not",
           HTTP_TARGET_MAX);
}

/* A service below a path routes alike; the path is cut only where a segment ends. */
static void
test_base_path(TALLOC_CTX *mem)
{
    struct az *az = make_process(mem);
    env_settings(az)->oidc_issuer = "https://as.example/auth";
    is_int(fake_status(ask(mem, az, "GET", "/auth/health/live", NULL, NULL).fake), 200,
           "below the issuer's path");
    is_int(fake_status(ask(mem, az, "GET", "/health/live", NULL, NULL).fake), 200,
           "... and where the web server has cut it off");
    is_int(fake_status(ask(mem, az, "GET", "/authhealth/live", NULL, NULL).fake), 404,
           "a path that only begins alike");
    is_int(fake_status(ask(mem, az, "GET", "/auth/auth/health/live", NULL, NULL).fake), 404,
           "the path is cut once");
    is_int(fake_status(ask(mem, az, "GET", "/auth/admin/api/clients", NULL, NULL).fake), 401,
           "/admin is guarded there too (specification 5.3)");
    is_int(fake_status(ask(mem, az, "GET", "/auth", NULL, NULL).fake), 404, "the issuer itself");
}

/* clang-format off */
static const struct { const char *id; bool echoed; const char *name; } ids[] = {
    {"a", true, "one character"},
    {"req-1_2.3", true, "letters, digits, hyphen, underscore, full stop"},
    {"", false, "an empty one"},
    {"a b", false, "a blank"},
    {"a\r\nSet-Cookie: x=y", false, "a line end: no caller writes a header"},
    {"a\n", false, "a line end behind"},
    {"a\"b", false, "a quote: no caller writes into the log"},
    {"a/b", false, "a slash"},
    {"a:b", false, "a colon"},
    {"\xc3\xa4", false, "UTF-8"},
    {"a\x7f", false, "DEL"},
};
/* clang-format on */

static void
test_request_ids(TALLOC_CTX *mem, struct az *az)
{
    char *longest = talloc_zero_size(mem, 130);
    memset(longest, 'x', 129);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) + 2; i++) {
        bool length_test = i >= sizeof(ids) / sizeof(ids[0]);
        longest[128] = i == sizeof(ids) / sizeof(ids[0]) ? '\0' : 'x';
        const char *id = length_test ? longest : ids[i].id;
        bool echoed = length_test ? strlen(id) == 128 : ids[i].echoed;
        struct exchange got =
            ask(mem, az, "GET", "/health/live", "HTTP_X_REQUEST_ID", talloc_strdup(mem, id));
        const char *seen = fake_header(got.fake, "X-Request-ID");
        ok(echoed ? strcmp(seen, id) == 0
                  : strcmp(seen, id) != 0 && strlen(seen) == UUID7_TEXT_LENGTH,
           "X-Request-ID %s: %s (decisions.md \"X-Request-ID\")", echoed ? "echoed" : "replaced",
           !length_test ? ids[i].name
           : echoed     ? "128 characters"
                        : "129 characters");
        ok(strstr(got.log, talloc_asprintf(mem, "\"request_id\":\"%s\"", seen)) != NULL,
           "... and logged, when the gateway's own copy is gone");
    }
    struct exchange one = ask(mem, az, "GET", "/x", NULL, NULL),
                    two = ask(mem, az, "GET", "/x", NULL, NULL);
    ok(strcmp(fake_header(one.fake, "X-Request-ID"), fake_header(two.fake, "X-Request-ID")) != 0,
       "each request has an id of its own");
}

static void
test_log(TALLOC_CTX *mem, struct az *az)
{
    struct exchange got = ask(mem, az, "GET", "/nothing", "HTTP_USER_AGENT", "a\"b\n\x1b[2J");
    ok(strstr(got.log, "\"method\":\"GET\"") != NULL && strstr(got.log, "\"status\":404") != NULL
           && strstr(got.log, "\"ip\":\"192.0.2.7\"") != NULL,
       "the log line has method, status and address");
    ok(strstr(got.log, "/nothing") == NULL, "... the route's pattern, not what the caller wrote");
    got = ask(mem, az, "GET\n{\"forged\":1}", "/health/live", NULL, NULL);
    ok(strchr(got.log, '\n') == got.log + strlen(got.log) - 1,
       "a method with a line end forges no log line");
    got = ask(mem, az, "GET", "/admin/api/clients", "HTTP_X_ADMIN_API_KEY", "a key that is secret");
    is_int(fake_status(got.fake), 503, "a key while the database is away: 503, not 401");
    is_str(fake_header(got.fake, "Retry-After"), "1", "... with Retry-After");
    ok(strstr(got.log, "secret") == NULL && strstr(got.fake->answer, "secret") == NULL,
       "... and neither log nor answer hold it");
    ok(strstr(got.fake->answer, "nonexistent") == NULL && strstr(got.log, "nonexistent") != NULL,
       "what the database said is the operator's to read, not the caller's");
    log_level_set("error");
    got = ask(mem, az, "GET", "/health/live", NULL, NULL);
    is_str(got.log, "", "SVC_LOG_LEVEL=error: no line for a request that went well");
    log_level_set("info");
}

/* Credentials are checked before the body: the body of an unauthorized request is not read. */
static void
test_order(TALLOC_CTX *mem, struct az *az)
{
    static const char *const nobody[] = {"REQUEST_METHOD",
                                         "POST",
                                         "REQUEST_URI",
                                         "/bundles/status",
                                         "CONTENT_TYPE",
                                         "application/json",
                                         "CONTENT_LENGTH",
                                         "5",
                                         NULL};
    static const char *const wrong[] = {"REQUEST_METHOD",
                                        "POST",
                                        "REQUEST_URI",
                                        "/bundles/status",
                                        "CONTENT_LENGTH",
                                        "5",
                                        "HTTP_X_BUNDLE_API_KEY",
                                        "A bundle key of the tests",
                                        NULL};
    static const char *const large[] = {"REQUEST_METHOD",        "POST",           "REQUEST_URI",
                                        "/bundles/status",       "CONTENT_LENGTH", "8388609",
                                        "HTTP_X_BUNDLE_API_KEY", BUNDLE_KEY,       NULL};
    static const char *const broken[] = {"REQUEST_METHOD",        "POST",           "REQUEST_URI",
                                         "/bundles/status",       "CONTENT_LENGTH", "5",
                                         "HTTP_X_BUNDLE_API_KEY", BUNDLE_KEY,       NULL};
    struct exchange got = answer(mem, az, nobody, "{\"a\":1}");
    is_int(fake_status(got.fake), 401, "a push without the bundle key (specification 5)");
    is_int((int64_t) got.fake->body_read, 0, "... its body is not read");
    got = answer(mem, az, wrong, "{\"a\":1}");
    is_int(fake_status(got.fake), 401, "a push with a key in another case");
    is_int((int64_t) got.fake->body_read, 0, "... its body is not read");
    ok(strstr(got.log, "A bundle key") == NULL, "... nor is the key logged");
    got = answer(mem, az, large, "x");
    is_int(fake_status(got.fake), 413, "a body one octet over the row's limit");
    is_int((int64_t) got.fake->body_read, 0, "... is not read either");
    got = answer(mem, az, broken, "{\"a\"}");
    is_int(fake_status(got.fake), 400, "a body that is no JSON");
}

/* Post an empty form from an address; the database is away. */
static struct exchange
post_token(TALLOC_CTX *mem, struct az *az, const char *path, const char *ip, const char *forwarded)
{
    const char **set = talloc_zero_array(mem, const char *, 15);
    const char *values[] = {"REQUEST_METHOD",
                            "POST",
                            "REQUEST_SCHEME",
                            "https",
                            "REQUEST_URI",
                            path,
                            "REMOTE_ADDR",
                            ip,
                            "CONTENT_TYPE",
                            "application/x-www-form-urlencoded",
                            "CONTENT_LENGTH",
                            "0",
                            forwarded != NULL ? "HTTP_X_FORWARDED_FOR" : NULL,
                            forwarded};
    memcpy(set, values, sizeof(values));
    return answer(mem, az, set, "");
}

static void
test_audit(TALLOC_CTX *mem, struct az *az)
{
    struct exchange got = post_token(mem, az, "/token", "192.0.2.7", NULL);
    is_int(fake_status(got.fake), 400,
           "a refusal of what proved nothing is answered without an audit row (decisions.md "
           "\"Audited\")");
    is_str(fake_header(got.fake, "Cache-Control"), "no-store", "... never cached (oauth.md C8)");
    is_str(fake_header(got.fake, "Pragma"), "no-cache", "... nor by old proxies");
    struct settings *cfg = env_settings(az);
    cfg->allow_insecure_dev_key = true; /* a key that needs no database */
    got = post_token(mem, az, "/admin/api/clients", "127.0.0.1", NULL);
    cfg->allow_insecure_dev_key = false;
    is_int(fake_status(got.fake), 503,
           "a refusal that must leave an audit row is not answered without it (decisions.md "
           "\"Audited\")");
    is_str(fake_header(got.fake, "Cache-Control"), "no-store", "... never cached");
    is_str(fake_header(got.fake, "Retry-After"), "1", "... with Retry-After");
    ok(strstr(fake_body(got.fake), "application/json") == NULL
           && fake_header_count(got.fake, "Status") == 1,
       "... and nothing of the first answer is left");
    check_answer(&got, "POST");
}

static void
test_rate_limit(TALLOC_CTX *mem)
{
    struct az *az = make_process(mem);
    struct settings *cfg = env_settings(az);
    const char *why, *dir = env_directory(mem);
    chmod(dir, 0700);
    if (shared_open(az, dir, &az->shared, &why) != AZ_OK)
        exit(99);
    cfg->rate_limit_requests = 2;
    cfg->rate_limit_window = 86400;
    static const char *const paths[] = {"/token", "/introspect", "/revoke"};
    is_int(fake_status(post_token(mem, az, "/token", "192.0.2.1", NULL).fake), 400, "one request");
    is_int(fake_status(post_token(mem, az, "/introspect", "192.0.2.1", NULL).fake), 401, "two");
    for (size_t i = 0; i < 3; i++) {
        struct exchange got = post_token(mem, az, paths[i], "192.0.2.1", NULL);
        is_int(fake_status(got.fake), 429,
               "one more is refused, over all paths together (decisions.md \"Rate limit\"): %s",
               paths[i]);
        int after = atoi(fake_header(got.fake, "Retry-After"));
        ok(after >= 1 && after <= 86400, "... with Retry-After");
        is_int((int64_t) got.fake->body_read, 0, "... before the body is read");
        ok(strstr(got.log, "audit") == NULL, "... and without an audit row: it costs no SQL");
        check_answer(&got, "POST");
    }
    is_int(fake_status(ask(mem, az, "GET", "/health/live", NULL, NULL).fake), 200,
           "health is not limited");
    is_int(fake_status(post_token(mem, az, "/token", "192.0.2.2", NULL).fake), 400,
           "another address has its own count");
    is_int(fake_status(post_token(mem, az, "/token", "192.0.2.1", "198.51.100.1").fake), 429,
           "X-Forwarded-For is ignored while no proxy is trusted (specification 8)");
    cfg->trusted_proxy_count = 1;
    is_int(fake_status(post_token(mem, az, "/token", "192.0.2.1", "198.51.100.1").fake), 400,
           "behind a trusted proxy it names the client");
    is_int(fake_status(post_token(mem, az, "/token", "192.0.2.1", "evil, 192.0.2.1").fake), 429,
           "... its last entry alone");
    cfg->rate_limit_enabled = false;
    is_int(fake_status(post_token(mem, az, "/token", "192.0.2.1", NULL).fake), 400,
           "SVC_RATE_LIMIT_ENABLED=false (specification 8)");
}

/* A failure without a known client to redirect to: a page (here without its template: plain text).
 */
static void
check_page(const struct exchange *got, int status, const char *error, const char *name)
{
    const struct fake *fake = got->fake;
    is_int(fake_status(fake), status, "page: %s", name);
    is_str(fake_header(fake, "Content-Type"), "text/plain; charset=utf-8", "... a text");
    ok(fake_body(fake) != NULL && strncmp(fake_body(fake), error, strlen(error)) == 0,
       "... that says %s", error);
    ok(fake_header(fake, "Location") == NULL, "... no redirect");
    is_str(fake_header(fake, "Cache-Control"), "no-store", "... not cached");
}

static void
test_pages(TALLOC_CTX *mem)
{
    struct az *az = make_process(mem);
    static const char target[] = "/authorize?client_id=c&redirect_uri=https://a.example/cb&state=s";
    struct exchange got = ask(mem, az, "PUT", target, NULL, NULL);
    check_page(&got, 405, "invalid_request", "another method");
    is_str(fake_header(got.fake, "Allow"), "GET, POST", "... Allow");
    got = ask(mem, az, "GET", target, NULL, NULL);
    check_page(&got, 503, "temporarily_unavailable", "the database is away (oauth.md C15)");
    is_str(fake_header(got.fake, "Retry-After"), "1", "... Retry-After");
    struct settings *cfg = env_settings(az);
    const char *why, *dir = env_directory(mem);
    chmod(dir, 0700);
    if (shared_open(az, dir, &az->shared, &why) != AZ_OK)
        exit(99);
    cfg->rate_limit_requests = 1;
    ask(mem, az, "GET", target, NULL, NULL);
    got = ask(mem, az, "GET", target, NULL, NULL);
    is_str(fake_header(got.fake, "Content-Type"), "application/json",
           "the rate limit is JSON for a program (specification 7.3)");
    got = ask(mem, az, "GET", target, "HTTP_ACCEPT", "text/html,*/*;q=0.8");
    check_page(&got, 429, "too_many_requests", "... a page for a browser");
    ok(fake_header(got.fake, "Retry-After") != NULL, "... Retry-After");
}

/* Redirects of a browser. */
static void
test_redirects(TALLOC_CTX *mem)
{
    static const char *const bad[] = {"https://a.example/\r\nX: y", "https://a.example/ b",
                                      "https://a.example/\x7f", "https://a.example/\xc3\xa4"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct request *req = fake_request(mem, NULL, NULL);
        is_int(respond_redirect(req, bad[i]), AZ_SERVER_ERROR,
               "a redirect to what is no URI is none (response splitting)");
        is_int((int64_t) req->res.headers + req->res.status, 0, "... and leaves no header");
    }
    char *url = talloc_zero_size(mem, HTTP_LOCATION_MAX + 2);
    memset(url, 'a', HTTP_LOCATION_MAX + 1);
    is_int(respond_redirect(fake_request(mem, NULL, NULL), url), AZ_SERVER_ERROR,
           "a target of %d octets is too long", HTTP_LOCATION_MAX + 1);
    url[HTTP_LOCATION_MAX] = '\0';
    struct request *req = fake_request(mem, NULL, NULL);
    is_int(respond_redirect(req, url), AZ_OK, "... one of %d is not", HTTP_LOCATION_MAX);
    is_int(req->res.status, 302, "... it is 302, never 307 (oauth.md 3.2)");
    ok(req->res.header[0].value != url, "... and a copy, which is wiped");
}

/* True if the log names this address for an X-Forwarded-For of `size` octets that ends in `end`. */
static bool
logged_address(TALLOC_CTX *mem, struct az *az, size_t size, const char *end, const char *wanted)
{
    char *text = talloc_zero_size(mem, size + 1);
    memset(text, '9', size);
    memcpy(text + size - strlen(end), end, strlen(end));
    struct exchange got = ask(mem, az, "GET", "/health/live", "HTTP_X_FORWARDED_FOR", text);
    return strstr(got.log, wanted) != NULL;
}

/* Callers write the entries further left; their length must not make a caller the proxy. */
static void
test_long_forwarded(TALLOC_CTX *mem)
{
    struct az *az = make_process(mem);
    env_settings(az)->trusted_proxy_count = 1;
    static const size_t sizes[] = {HTTP_HEADER_MAX, HTTP_HEADER_MAX + 1, 2 * HTTP_HEADER_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        ok(logged_address(mem, az, sizes[i], ", 198.51.100.9", "\"ip\":\"198.51.100.9\""),
           "X-Forwarded-For of %zu octets: its last entry counts (specification 8)", sizes[i]);
        ok(!logged_address(mem, az, sizes[i], ", evil", "192.0.2.7"),
           "... and one that is no address gives no address, not the connection's");
    }
    struct exchange got = ask(mem, az, "GET", "/health/live", NULL, NULL);
    ok(strstr(got.log, "\"ip\":\"192.0.2.7\"") != NULL, "without the header the connection's");
}

static void
test_headers(TALLOC_CTX *mem)
{
    static const char *const bad[] = {"a\r\nX: y", "a\n", "\r", "a\tb", "a\x7f", "\x01"};
    struct request *req = fake_request(mem, NULL, NULL);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        respond_header(req, "Location", bad[i]);
    respond_header(req, "Location", NULL);
    is_int((int64_t) req->res.headers, 0,
           "a header value with a control character is dropped whole (response splitting)");
    for (int i = 0; i < HTTP_HEADERS_MAX; i++)
        respond_header(req, "X", "y");
    is_int((int64_t) req->res.headers, HTTP_HEADERS_MAX, "an answer has room for %d headers",
           HTTP_HEADERS_MAX);
    respond_header(req, "X", "y");
    is_int((int64_t) req->res.headers, HTTP_HEADERS_MAX, "... one more is left out");
    request_field_error(req, "name", "is missing");
    request_field_error(req, "name", "is late");
    request_field_error(req, "other", "is bad");
    is_str(jsonx_dump(mem, json_object_get(req->error_body, "fieldErrors")),
           "{\"name\":\"is missing\",\"other\":\"is bad\"}",
           "each field's first error is told (decisions.md \"fieldErrors\")");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    struct az *az = make_process(mem);
    test_cases(mem, az);
    test_base_path(mem);
    test_request_ids(mem, az);
    test_log(mem, az);
    test_order(mem, az);
    test_audit(mem, az);
    test_rate_limit(mem);
    test_pages(mem);
    test_redirects(mem);
    test_long_forwarded(mem);
    test_headers(mem);
    talloc_free(mem);
    return done();
}
