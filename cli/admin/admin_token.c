/* token: what a token is, and an end to it. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/admin/admin.h"
#include "cli/lib/input.h"
#include "cli/verbs.h"
#include "crypto/secret.h"

/* Longest text that is read, in octets. */
#define TOKEN_INPUT_MAX 1024

#define AT(member) offsetof(struct cli_choices, member)

/* clang-format off */
const struct cli_option token_revoke_options[] = {
    {"client", 0, "CLIENT", AT(client), false, "Revoke all tokens and codes of CLIENT"},
    {"subject", 0, "SUBJECT", AT(subject), false,
     "Revoke all tokens and codes of the person SUBJECT"},
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};
static const struct admin_member revoke_members[] = {
    {AT(client),  "clientId",  ADMIN_TEXT},
    {AT(subject), "subjectId", ADMIN_TEXT},
    {0, NULL, ADMIN_TEXT},
};
/* clang-format on */

/* Read the token from the file or standard input: other users can read a command line. */
static json_t *
token_body(struct cli *cli)
{
    size_t length = 0;
    char *text = input_read_file(cli, cli->argc > 0 ? cli->args[0] : "-", TOKEN_INPUT_MAX, "1 KiB",
                                 "give one token", &length);
    if (text == NULL)
        return NULL;
    text[strcspn(text, " \t\r\n")] = '\0';
    json_t *body = jsonx_own(cli->mem, json_pack("{s:o}", "token", output_string(text)));
    secret_wipe(text, length);
    return body;
}

static int
token_ask(struct cli *cli, const char *path, json_t *body)
{
    const struct call call = {.method = "POST", .path = path, .body = body};
    struct answer answer;
    if (call.body == NULL)
        return CLI_FAILED;
    int status = call_run(cli, &call, "there is no such person or client", &answer);
    if (status == CLI_OK)
        admin_print_object(cli, answer.json);
    return status;
}

int
token_introspect_run(struct cli *cli)
{
    return token_ask(cli, "/admin/api/tokens/introspect", token_body(cli));
}

int
token_revoke_run(struct cli *cli)
{
    const bool all = cli->choice.subject != NULL || cli->choice.client != NULL;
    json_t *body = all ? jsonx_own(cli->mem, json_object()) : token_body(cli);
    if (all && (cli->argc > 0 || (cli->choice.subject != NULL && cli->choice.client != NULL))) {
        output_error("%s: give FILE, --subject or --client, and only one of them", cli->path);
        return CLI_USAGE;
    }
    if (all && !admin_fill(cli, revoke_members, body))
        return CLI_FAILED;
    return token_ask(cli, "/admin/api/tokens/revoke", body);
}
