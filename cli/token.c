/* token: what a token is, and an end to it. */
#include "config.h"

#include <string.h>

#include "admin.h"
#include "base/jsonx.h"
#include "crypto/secret.h"
#include "input.h"
#include "verbs.h"

/* Longest text that is read, in octets. */
#define TOKEN_INPUT_MAX 1024

const struct cli_option token_revoke_options[] = {
    CLI_YES, {NULL, 0, NULL, 0, false, NULL}
};

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
token_ask(struct cli *cli, const char *path)
{
    const struct call call = {.method = "POST", .path = path, .body = token_body(cli)};
    struct answer answer;
    if (call.body == NULL)
        return CLI_FAILED;
    int status = call_run(cli, &call, NULL, &answer);
    if (status == CLI_OK)
        admin_print_object(cli, answer.json);
    return status;
}

int
token_introspect_run(struct cli *cli)
{
    return token_ask(cli, "/admin/api/tokens/introspect");
}

int
token_revoke_run(struct cli *cli)
{
    return token_ask(cli, "/admin/api/tokens/revoke");
}
