/* Forms: what is read is named in the row's table, is text, and comes once. */
#include "config.h"

#include <string.h>

#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "http/fake_io.h"
#include "http/form.h"

static const struct route_param params[] = {
    {.name = "scope"   },
    {.name = "client"  },
    {.name = "resource", .repeatable = true},
    {.name = NULL                 }
};

static const struct route_param *
find_param(const char *name)
{
    for (const struct route_param *param = params; param->name != NULL; param++)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

static void
check_params(const struct request *req)
{
    MUST(req->params <= HTTP_PARAMS_MAX);
    for (size_t i = 0; i < req->params; i++) {
        const struct route_param *param = find_param(req->param[i].name);
        const char *value = req->param[i].value;
        MUST(param != NULL && *value != '\0' && utf8_valid(value, strlen(value)));
        for (size_t j = 0; j < i; j++)
            MUST(param->repeatable || strcmp(req->param[j].name, param->name) != 0);
    }
}

/* Decoding never makes a text longer; what has neither % nor + stays. */
static void
check_decode(TALLOC_CTX *mem, const char *text, size_t size, bool form)
{
    char *decoded;
    if (request_url_decode(mem, text, size, form, &decoded) != AZ_OK)
        return;
    MUST(strlen(decoded) <= size && utf8_valid(decoded, strlen(decoded)));
    if (memchr(text, '%', size) == NULL && memchr(text, '+', size) == NULL)
        MUST(strlen(decoded) == size && memcmp(decoded, text, size) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct request *req = fake_request(mem, NULL, params);
    const char *text = (const char *) data;

    enum az_status st = request_parse_form(req, text, size);
    MUST(st == AZ_OK || st == AZ_INVALID_REQUEST);
    MUST(req->op.fault.status == st);
    if (st == AZ_OK)
        check_params(req);
    check_decode(mem, text, size, true);
    check_decode(mem, text, size, false);
    talloc_free(mem);
    return 0;
}
