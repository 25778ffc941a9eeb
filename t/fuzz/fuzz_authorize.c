/* The parameters of /authorize: what is read keeps to its limits, comes back from its stored form
 * as it was, and fits into a redirect. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/query.h"
#include "env.h"
#include "fuzz/fuzz.h"
#include "http/fake_io.h"
#include "http/form.h"
#include "oauth/registration/redirect_uri.h"
#include "oidc/authorize_params.h"

static struct request *
make_request(TALLOC_CTX *mem, const char *query)
{
    static const char *uris[] = {"https://a.example/cb", "http://127.0.0.1/cb", NULL};
    static struct client client = {
        .client_id = "c", .type = "public", .registration = "ADMIN", .redirect_uris = uris};
    struct request *req = fake_request(mem, NULL, authorize_params);
    req->op = env_op(req, env_az(req));
    req->client = &client;
    req->query = query;
    ((struct route *) (uintptr_t) req->route)->body = BODY_QUERY_FAULTS;
    return req;
}

/* A form whose faults are kept: no value that could be one of two, none that cannot be read. */
static void
check_form(const struct request *req)
{
    bool any = false;
    for (size_t i = 0; i < req->params; i++) {
        bool repeated = request_param_repeated(req, req->param[i].name);
        MUST(!repeated || request_param(req, req->param[i].name) == NULL);
        any = any || repeated;
    }
    MUST(any == (req->repeated != NULL));
}

static void
check_limits(const struct authorization *a)
{
    MUST(!a->prompt_none
         || (!a->prompt_login && !a->prompt_consent && !a->prompt_select && !a->prompt_create));
    MUST(a->max_age == AUTHORIZATION_NO_MAX_AGE || a->max_age >= 0);
    MUST(a->code_challenge != NULL && strlen(a->code_challenge) == AUTHORIZE_CHALLENGE);
    MUST(a->scope != NULL && strstr(a->scope, "  ") == NULL);
    MUST(a->state == NULL || query_escaped_length(a->state) <= AUTHORIZE_STATE_MAX);
}

static void
check_stored(struct request *req, struct authorization *authorization)
{
    struct authorization loaded;
    json_t *object, *again;
    authorization->flow_id = "f";
    MUST(authorization_dump(&req->op, authorization, &object) == AZ_OK);
    const char *text = jsonx_dump(req->op.mem, object);
    MUST(text != NULL && authorization_load(&req->op, text, &loaded) == AZ_OK);
    MUST(authorization_dump(&req->op, &loaded, &again) == AZ_OK);
    MUST(strcmp(jsonx_dump(req->op.mem, again), text) == 0);
}

/* A redirect leads to the client, whatever its query contains. */
static void
check_redirect(struct request *req, const char *state)
{
    const char *uri = request_param(req, "redirect_uri");
    const struct query_pair pair = {"state", state};
    if (uri == NULL || !redirect_uri_is_of(req->client, uri))
        return;
    const char *url = query_append(req->op.mem, uri, &pair, 1);
    MUST(url != NULL && strncmp(url, uri, strlen(uri)) == 0);
    MUST(strncmp(url, "https://a.example/cb", 20) == 0
         || strncmp(url, "http://127.0.0.1", 16) == 0);
    MUST(respond_redirect(req, url) == AZ_OK);
}

/* True if the handler would have come as far as authorize_params_read(). A hint needs the keys of
 * the database. */
static bool
is_for_reading(const struct request *req)
{
    const char *uri = request_param(req, "redirect_uri");
    return request_param(req, "client_id") != NULL && uri != NULL
           && redirect_uri_is_of(req->client, uri) && request_param(req, "id_token_hint") == NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct request *req = make_request(mem, talloc_strndup(mem, (const char *) data, size));
    struct authorization authorization;
    if (request_read_body(req) == AZ_OK) {
        check_form(req);
        check_redirect(req, authorize_state(req));
    }
    if (req->op.fault.status == AZ_OK && is_for_reading(req)) {
        enum az_status st = authorize_params_read(req, &authorization);
        MUST(st == req->op.fault.status && az_status_row(st)->http < 500);
        if (st == AZ_OK) {
            check_limits(&authorization);
            check_stored(req, &authorization);
        }
    }
    talloc_free(mem);
    return 0;
}
