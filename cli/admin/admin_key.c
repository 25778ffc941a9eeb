/* admin-key: create, list and revoke the keys of the admin API, by that API (call.h). */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "cli/lib/call.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "store/people/admin_keys.h"
#include "store/tokens/signing_keys.h"

#define KEYS "/admin/api/admin-keys"

const struct cli_option admin_key_mint_options[] = {
    {"expires-at",                                        0, "TIME", offsetof(struct cli_choices,                          ends),                       false,
     "End of the key, such as 2030-01-31T12:00:00Z; without it the key is valid until it is "
     "revoked"},
    {"label",                                                   0,                                              "LABEL", offsetof(struct cli_choices, label), true,
     "Purpose of the key, shown in lists and audit rows"},
    {"role", 0,  "ROLE",   offsetof(struct cli_choices,                                                      role),                                                                          false,
     "What the key may do: auditor (read, and ask policy), operator (write too, but no keys) or "
     "owner "
     "(everything, the default)"},
    {NULL,                                              0,                            NULL,                                  0,                                                                                   false,                                                                NULL                                      },
};

const struct cli_option admin_key_revoke_options[] = {
    CLI_YES, {NULL, 0, NULL, 0, false, NULL}
};

/* Refuse control characters, because other programs print the label too. */
static bool
label_ok(const char *label)
{
    size_t length = strlen(label);
    for (const char *c = label; *c != '\0'; c++)
        if ((unsigned char) *c < 0x20 || *c == 0x7f)
            return false;
    return length > 0 && utf8_valid(label, length)
           && utf8_length(label, length) <= ADMIN_KEY_LABEL_MAX;
}

/* Letters of a key and of its id. */
#define KEY_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

static bool
is_key_text(const char *text)
{
    return text != NULL && *text != '\0' && text[strspn(text, KEY_LETTERS)] == '\0';
}

/* Print a new key and wipe it. An answer of another form is no answer of the service, although it
 * may have made a key. */
static int
mint_print(const struct cli *cli, json_t *answer)
{
    json_t *key = json_object_get(answer, "key");
    const char *text = json_string_value(key),
               *id = json_string_value(json_object_get(answer, "id"));
    if (!is_key_text(text) || !is_key_text(id)) {
        output_error("%s: the answer has no admin key; see `authzctl admin-key list`, and revoke "
                     "one that was made",
                     cli->path);
        return CLI_FAILED;
    }
    if (cli->choice.json)
        printf("{\"id\": \"%s\", \"key\": \"%s\"}\n", id, text);
    else
        puts(text);
    explicit_bzero((void *) (uintptr_t) text, strlen(text));
    if (!cli->choice.quiet && !cli->choice.json)
        fprintf(stderr, "admin key %s created; it is not shown again\n", id);
    return CLI_OK;
}

int
admin_key_mint_run(struct cli *cli)
{
    struct answer answer;
    if (!label_ok(cli->choice.label)) {
        output_error(
            "admin-key mint: --label: must have 1 to %d characters and no control characters",
            ADMIN_KEY_LABEL_MAX);
        return CLI_USAGE;
    }
    /* A row sealed under another credential key than the service's would be useless. */
    if (cli->choice.server == NULL && signing_keys_check(&cli->op) != AZ_OK)
        return output_fault(cli);
    json_t *body =
        jsonx_own(cli->mem, json_pack("{s:s,s:s*,s:s*}", "label", cli->choice.label, "role",
                                      cli->choice.role, "expiresAt", cli->choice.ends));
    const struct call call = {.method = "POST", .path = KEYS, .body = body};
    int status = call_run(cli, &call, NULL, &answer);
    if (status == CLI_OK) {
        status = mint_print(cli, answer.json);
        explicit_bzero((void *) (uintptr_t) answer.text, answer.length);
    }
    return status;
}

int
admin_key_revoke_run(struct cli *cli)
{
    const char *id = call_escape(cli->mem, cli->args[0]);
    struct answer answer;
    const struct call call = {.method = "DELETE",
                              .path = talloc_asprintf(cli->mem, KEYS "/%s", id)};
    int status =
        call_run(cli, &call, talloc_asprintf(cli->mem, "no admin key %s", cli->args[0]), &answer);
    if (status != CLI_OK)
        return status;
    output_line(cli, "admin key %s revoked", cli->args[0]);
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:s}", "revoked", cli->args[0])));
    return CLI_OK;
}
