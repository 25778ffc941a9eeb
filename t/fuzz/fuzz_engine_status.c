/* Status documents of the policy engine. An input is the body of POST /bundles/status. */
#include "config.h"

#include <string.h>

#include "admin/policy/bundles.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "http/fake_io.h"
#include "policy/engine/engine.h"
#include "store/db/db.h"

#define INSTANCE_MAX 128 /* octets of an engine's own label, as in admin/policy/bundles.c */

static bool
is_text(const char *text)
{
    return text != NULL && utf8_valid(text, strlen(text));
}

static void
check_status(TALLOC_CTX *mem, const json_t *bundle)
{
    struct engine_status status;
    engine_read_status(mem, bundle, &status);
    MUST(is_text(status.active_revision) && is_text(status.code) && is_text(status.message));
    const char *revision = json_string_value(json_object_get(bundle, "active_revision"));
    MUST(strcmp(status.active_revision, revision != NULL ? revision : "") == 0);
}

/* The label by which an engine is known, NULL when there is none that can be stored. */
static const char *
label_of(const json_t *push)
{
    const json_t *labels = json_object_get(push, "labels");
    const json_t *own = json_object_get(labels, "instance");
    const char *label =
        json_string_value(json_is_string(own) ? own : json_object_get(labels, "id"));
    return label != NULL && strlen(label) <= INSTANCE_MAX ? label : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const set[] = {NULL};
    const struct settings cfg = {.oidc_issuer = "https://as.example"};
    TALLOC_CTX *mem = talloc_new(NULL);
    /* Without a database, a report that was read ends as unavailable. */
    struct az az = {.cfg = &cfg, .db = db_new(mem, "host=/nonexistent")};
    struct request *req = fake_request(mem, fake_new(mem, set, ""), NULL);

    req->op.az = &az;
    req->body = talloc_strndup(mem, (const char *) data, size);
    req->body_length = strlen(req->body);
    json_t *push =
        jsonx_own(mem, json_loadb(req->body, req->body_length, ENGINE_STATUS_FLAGS, NULL));
    const json_t *bundle = json_object_get(json_object_get(push, "bundles"), "svc");
    enum az_status st = bundle_status_handle(req);
    MUST(st == req->op.fault.status);
    if (label_of(push) == NULL)
        MUST(st == AZ_INVALID_REQUEST && req->res.status == 0);
    else if (bundle == NULL)
        MUST(st == AZ_OK && req->res.status == 200);
    else
        MUST(st == AZ_UNAVAILABLE);
    check_status(mem, bundle);
    talloc_free(mem);
    return 0;
}
