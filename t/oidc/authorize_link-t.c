/* A link of a page repeats the request: each parameter of /authorize is in it, or has a reason here
 * to be left out. */
#include "config.h"

#include <string.h>

#include "env.h"
#include "oidc/authorize_link.h"
#include "oidc/authorize_params.h"
#include "tap.h"

/* A stored request with all members. */
static const char stored[] =
    "{'client_id':'c','redirect_uri':'https://a.example/cb','state':'s','scope':'read',"
    "'requested_scope':'read write','nonce':'n','code_challenge':'h','dpop_jkt':'t','resource':'r',"
    "'acr_values':'a','login_hint':'l','ui_locales':'de','idp_hint':'first','hint_subject':'u',"
    "'max_age':9,'prompt_login':true,'prompt_consent':true,'prompt_select':true,'prompt_create':"
    "true,'flow_id':'f','asked_at':1,"
    "'resource_types':['x'],'details':'[]'}";

static const struct {
    const char *name, *why;
} left_out[] = {
    {"response_mode", "query is the only value"                           },
    {"id_token_hint", "it limits prompt=none, with which no page is shown"},
    {"request",       "refused"                                           },
    {"request_uri",   "refused"                                           },
    {"registration",  "refused"                                           },
};

static const char *
reason_of(const char *name)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
        if (strcmp(left_out[i].name, name) == 0)
            return left_out[i].why;
    return NULL;
}

/* True if the query of a URL has the parameter, with a value. */
static bool
has(const char *url, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = url; (at = strpbrk(at, "?&")) != NULL;) {
        at++;
        if (strncmp(at, name, length) == 0 && at[length] == '=' && at[length + 1] != '&'
            && at[length + 1] != '\0')
            return true;
    }
    return false;
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct request req = {.op = env_op(mem, env_az(mem))};
    struct authorization authorization;
    char *text = talloc_strdup(mem, stored);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    ok(authorization_load(&req.op, text, &authorization) == AZ_OK, "the stored request is read");
    const char *url = authorize_link(&req, &authorization, "second");
    for (const struct route_param *param = authorize_params; param->name != NULL; param++) {
        const char *why = reason_of(param->name);
        ok(has(url, param->name) == (why == NULL), "a link %s %s%s%s",
           why == NULL ? "repeats" : "leaves out", param->name, why == NULL ? "" : ": ",
           why == NULL ? "" : why);
    }
    ok(strstr(url, "idp_hint=second") != NULL && strstr(url, "idp_hint=first") == NULL,
       "... with the provider that was chosen");
    ok(strstr(url, "dpop_jkt=t") != NULL,
       "... and with the DPoP key that the code is bound to (RFC 9449 10)");
    talloc_free(mem);
    return done();
}
