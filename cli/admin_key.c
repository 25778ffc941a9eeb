/* admin-key: create, list and revoke the keys of the admin API. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/utf8.h"
#include "output.h"
#include "store/people/admin_keys.h"
#include "store/tokens/signing_keys.h"
#include "verbs.h"

const struct cli_option admin_key_mint_options[] = {
    {"label", 0, "LABEL", offsetof(struct cli_choices, label), true,
     "Purpose of the key, shown in lists and audit rows"},
    {NULL,       0,     NULL,     0,                        false,                         NULL},
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

int
admin_key_mint_run(struct cli *cli)
{
    const char *key, *id;
    if (!label_ok(cli->choice.label)) {
        output_error(
            "admin-key mint: --label: must have 1 to %d characters and no control characters",
            ADMIN_KEY_LABEL_MAX);
        return CLI_USAGE;
    }
    /* A row sealed under another credential key than the service's would be useless. */
    if (signing_keys_check(&cli->op) != AZ_OK
        || admin_key_mint(&cli->op, cli->choice.label, &key, &id) != AZ_OK)
        return output_fault(cli);
    if (cli->choice.json)
        printf("{\"id\": \"%s\", \"key\": \"%s\"}\n", id, key);
    else
        puts(key);
    explicit_bzero((void *) (uintptr_t) key, strlen(key));
    if (!cli->choice.quiet && !cli->choice.json)
        fprintf(stderr, "admin key %s created; it is not shown again\n", id);
    return CLI_OK;
}

int
admin_key_list_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"id",        "ID"        },
        {"managedBy", "MANAGED BY"},
        {"createdAt", "CREATED"   },
        {"revokedAt", "REVOKED"   },
        {"label",     "LABEL"     },
        {NULL,        NULL        }
    };
    json_t *rows;
    if (admin_key_list(&cli->op, &rows) != AZ_OK)
        return output_fault(cli);
    output_rows(cli, rows, columns);
    return CLI_OK;
}

int
admin_key_revoke_run(struct cli *cli)
{
    if (admin_key_revoke(&cli->op, cli->args[0]) != AZ_OK)
        return output_fault(cli);
    output_line(cli, "admin key %s revoked", cli->args[0]);
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:s}", "revoked", cli->args[0])));
    return CLI_OK;
}
