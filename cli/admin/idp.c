/* Verbs of identity providers that are more than one request. */
#include "config.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "cli/admin/admin.h"
#include "cli/verbs.h"

#define HOME "/admin/api/home-issuer"

/* ---- home */

/* Ask before a change, if there is somebody to ask. */
static bool
home_confirmed(const struct cli *cli)
{
    char answer[8];
    if (cli->choice.defaults || !isatty(STDIN_FILENO))
        return true;
    output_error("%s: new people of %s get their sub as their name, and what rules, rows and "
                 "delegations say of a name like alice holds for them; new people of the present "
                 "home issuer get IDP|SUB",
                 cli->path, cli->args[0]);
    fputs("Continue? [y/N] ", stderr);
    if (fgets(answer, sizeof(answer), stdin) != NULL && strncasecmp(answer, "y", 1) == 0)
        return true;
    output_error("%s: stopped; nothing was changed", cli->path);
    return false;
}

/* Show the home issuer, or change it and tell what follows. */
int
idp_home_run(struct cli *cli)
{
    struct answer answer;
    struct call call = {.method = "GET", .path = HOME};
    size_t i;
    json_t *text;
    if (cli->argc > 0) {
        if (!home_confirmed(cli))
            return CLI_FAILED;
        call.method = "PUT";
        call.body = jsonx_own(cli->mem, json_pack("{s:o}", "idpId", output_string(cli->args[0])));
    }
    int status = call_run(
        cli, &call, "there is no such enabled identity provider; see `authzctl idp list`", &answer);
    if (status != CLI_OK)
        return status;
    if (!cli->choice.json) {
        json_array_foreach (json_object_get(answer.json, "consequences"), i, text)
            output_line(cli, "%s", json_string_value(text));
        json_object_del(answer.json, "consequences");
    }
    admin_print_object(cli, answer.json);
    return CLI_OK;
}

/* ---- create */

/* Disable a provider whose issuer cannot be used. The answer with the warnings is kept. */
static int
disable_again(struct cli *cli, json_t *provider)
{
    struct answer answer;
    json_t *body = jsonx_own(cli->mem, json_copy(provider));
    const struct call call = {.method = "PUT",
                              .path = talloc_asprintf(cli->mem, "/admin/api/identity-providers/%s",
                                                      call_escape(cli->mem, cli->args[0])),
                              .body = body};
    json_object_del(body, "warnings");
    if (json_object_set_new(body, "enabled", json_false()) != 0)
        return output_no_memory(cli);
    int status = call_run(cli, &call, NULL, &answer);
    if (status != CLI_OK)
        return status;
    json_object_set_new(provider, "enabled", json_false());
    json_object_set_new(provider, "home", json_false());
    output_error("%s: %s is disabled, because its issuer cannot be used; correct it and run "
                 "`authzctl idp update %s --enable`, or give --enable",
                 cli->path, cli->args[0], cli->args[0]);
    return CLI_OK;
}

int
idp_create_run(struct cli *cli)
{
    struct answer answer;
    int status = admin_ask(cli, &answer);
    bool open = status == CLI_OK && answer.json != NULL && !cli->choice.enable
                && !cli->choice.disable && json_is_true(json_object_get(answer.json, "enabled"));
    /* A file may say `enabled`, too; what cannot be used is not offered by a slip there either. */
    if (open && json_array_size(json_object_get(answer.json, "warnings")) > 0)
        status = disable_again(cli, answer.json);
    return status == CLI_OK ? admin_show(cli, &answer) : status;
}
