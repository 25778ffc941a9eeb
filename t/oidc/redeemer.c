/*
 * A worker for t/oidc/upstream.t, which makes the URL of a sign-in and redeems the answer of an
 * identity provider. Settings come from the environment, as the service's do.
 *
 *   redeemer url IDP_ID REQUEST      members of struct upstream_request, as JSON
 *   redeemer redeem IDP_ID ANSWER    members of struct upstream_answer
 *   redeemer end_session IDP_ID {}
 *
 * Prints one JSON object.
 */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/settings/settings.h"
#include "base/status.h"
#include "oidc/upstream/upstream.h"
#include "process.h"
#include "token/authorization.h"

static void
print(struct op *op, enum az_status st, json_t *more)
{
    const char *error = st == AZ_OK ? "none" : az_status_row(st)->error;
    json_t *out = json_pack("{s:s, s:i, s:s, s:s}", "error", error, "http",
                            st == AZ_OK ? 200 : az_status_row(st)->http, "public",
                            op->fault.public_text, "detail", op->fault.detail);
    json_object_update(out, more);
    json_dumpf(out, stdout, JSON_COMPACT | JSON_SORT_KEYS);
    putchar('\n');
    json_decref(out);
    json_decref(more);
}

static const char *
text(const json_t *of, const char *name)
{
    return json_string_value(json_object_get(of, name));
}

static int64_t
number(const json_t *of, const char *name, int64_t otherwise)
{
    const json_t *value = json_object_get(of, name);
    return value != NULL ? json_integer_value(value) : otherwise;
}

static const struct identity_provider *
find(const struct identity_providers *list, const char *idp_id)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->provider[i].idp_id, idp_id) == 0)
            return &list->provider[i];
    return NULL;
}

static void
do_url(struct op *op, const struct identity_provider *provider, const json_t *given)
{
    const struct upstream_request request = {
        .state = text(given, "state"),
        .nonce = text(given, "nonce"),
        .code_challenge = text(given, "code_challenge"),
        .login_hint = text(given, "login_hint"),
        .acr_values = text(given, "acr_values"),
        .ui_locales = text(given, "ui_locales"),
        .prompt_login = json_is_true(json_object_get(given, "prompt_login")),
        .max_age = number(given, "max_age", AUTHORIZATION_NO_MAX_AGE),
    };
    const char *url = NULL;
    enum az_status st = upstream_authorize_url(op, provider, &request, &url);
    print(op, st, json_pack("{s:s*}", "url", url));
}

static void
do_redeem(struct op *op, const struct identity_provider *provider, const json_t *given)
{
    const struct upstream_answer answer = {
        .code = text(given, "code"),
        .iss = text(given, "iss"),
        .verifier = text(given, "verifier"),
        .nonce = text(given, "nonce"),
        .max_age = number(given, "max_age", AUTHORIZATION_NO_MAX_AGE),
        .prompt_login = json_is_true(json_object_get(given, "prompt_login")),
        .asked_at = number(given, "asked_at", 0),
    };
    struct upstream_identity who = {.sub = NULL};
    enum az_status st = upstream_redeem(op, provider, &answer, &who);
    json_t *amr = json_array();
    for (size_t i = 0; who.amr != NULL && who.amr[i] != NULL; i++)
        json_array_append_new(amr, json_string(who.amr[i]));
    print(op, st,
          json_pack("{s:s*, s:O*, s:I, s:s*, s:o, s:s*, s:s*}", "sub", who.sub, "claims",
                    who.claims, "auth_time", (json_int_t) who.auth_time, "acr", who.acr, "amr", amr,
                    "sid", who.sid, "id_token", who.id_token));
}

int
main(int argc, char **argv)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct problems problems = {NULL, 0};
    struct az *az = argc > 3 ? process_new(mem, true, &problems) : NULL;
    json_t *given = argc > 3 ? json_loads(argv[3], 0, NULL) : NULL;
    const struct identity_providers *list;
    for (size_t i = 0; i < problems.count; i++)
        fprintf(stderr, "%s\n", problems.line[i]);
    if (az == NULL || given == NULL || problems.count > 0)
        return 78;
    struct op op = process_op(mem, az);
    if (identity_providers_get(&op, true, &list) != AZ_OK)
        return 75;
    const struct identity_provider *provider = find(list, argv[2]);
    if (provider == NULL)
        return 64;
    if (strcmp(argv[1], "url") == 0)
        do_url(&op, provider, given);
    else if (strcmp(argv[1], "redeem") == 0)
        do_redeem(&op, provider, given);
    else if (strcmp(argv[1], "end_session") == 0)
        print(&op, AZ_OK, json_pack("{s:s*}", "url", upstream_end_session_endpoint(&op, provider)));
    else
        return 64;
    json_decref(given);
    talloc_free(mem);
    return 0;
}
