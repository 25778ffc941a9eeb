/*
 * A page as the service answers it, for the tests with a browser:
 *
 *   render NAME VALUES [FORM-ACTION]
 *
 * prints status line, headers and body as a gateway passes them on. VALUES is JSON. The name
 * "error" takes {"status":..,"error":..,"text":..} and the "path" of a route. AUTHZ_LANGUAGE is
 * Accept-Language; SVC_OIDC_ISSUER, SVC_WWW_DIR, SVC_PAGES_NAME and SVC_PAGES_LOGO are read from
 * the environment.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "http/fake_io.h"
#include "http/page/page.h"

/* Depth of VALUES; the tests stay far below. */
#define VALUES_DEPTH 8

static void
fail(const char *why)
{
    fprintf(stderr, "render: %s\n", why);
    exit(1);
}

static struct pages *
load_pages(struct az *az)
{
    struct problems problems = {NULL, 0};
    const char *source = getenv("AUTHZ_SRCDIR"), *issuer = getenv("SVC_OIDC_ISSUER");
    env_settings(az)->data_dir = talloc_asprintf(az, "%s/etc", source != NULL ? source : ".");
    env_settings(az)->oidc_issuer = issuer != NULL ? issuer : "https://login.example";
    env_settings(az)->www_dir = getenv("SVC_WWW_DIR");
    env_settings(az)->pages_name = getenv("SVC_PAGES_NAME");
    env_settings(az)->pages_logo = getenv("SVC_PAGES_LOGO");
    struct pages *pages = pages_load(az, az->cfg, &problems);
    if (pages == NULL)
        fail(problems.count > 0 ? problems.line[0] : "out of memory");
    return pages;
}

static void
respond(struct request *req, const char *name, json_t *values, const char *form_action)
{
    const struct page_link back = {json_string_value(json_object_get(values, "back_href")),
                                   json_string_value(json_object_get(values, "back_place"))};
    const struct route route = {.path = json_string_value(json_object_get(values, "path"))};
    bool again = json_object_get(values, "again_href") != NULL;
    req->route = &route;
    if (strcmp(name, "error") == 0 && !again)
        respond_error_page(req, (int) json_integer_value(json_object_get(values, "status")),
                           json_string_value(json_object_get(values, "error")),
                           json_string_value(json_object_get(values, "text")),
                           back.href != NULL ? &back : NULL);
    else if (respond_page(req, 200, name, values, form_action) != AZ_OK)
        fail(req->op.fault.detail);
}

int
main(int argc, char **argv)
{
    const char *language = getenv("AUTHZ_LANGUAGE");
    const char *const set[] = {"REQUEST_METHOD", "GET",
                               language != NULL ? "HTTP_ACCEPT_LANGUAGE" : NULL, language, NULL};
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    json_t *values;
    if (argc < 3)
        fail("a page's name and its values are wanted");
    if (jsonx_parse(mem, argv[2], strlen(argv[2]), VALUES_DEPTH, &values, NULL) != AZ_OK)
        fail("the values are no JSON");
    az->pages = load_pages(az);
    struct request *req = fake_request(mem, fake_new(mem, set, ""), NULL);
    req->op = env_op(req, az);
    req->op.request_id = "0193a7c2-6f3e-7b21-9d54-2f6a1c0e8b77";
    respond(req, argv[1], values, argc > 3 ? argv[3] : NULL);
    printf("Status: %d\r\nContent-Type: %s\r\n", req->res.status, req->res.content_type);
    for (size_t i = 0; i < req->res.headers; i++)
        printf("%s: %s\r\n", req->res.header[i].name, req->res.header[i].value);
    printf("\r\n");
    fwrite(req->res.body, 1, req->res.length, stdout);
    talloc_free(mem);
    return 0;
}
