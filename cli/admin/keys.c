/* keys rotate: activate the next keys of ID tokens or software statements, by the admin API
 * (call.h). */
#include "config.h"

#include "base/json/jsonx.h"
#include "base/words.h"
#include "cli/admin/admin.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "store/tokens/signing_keys.h"

const struct cli_option keys_rotate_options[] = {
    {"use", 0, "USE", offsetof(struct cli_choices, use), false,
     "Keys to rotate: oidc for ID tokens (default), statement for software statements, "
     "audit for checkpoints of the audit log, or access for JWT access tokens"},
    CLI_YES,
    {NULL,     0,   NULL,   0,                        false,                         NULL },
};

static const char *const rotate_uses[] = {"oidc", "statement", "audit", "access", NULL};

int
keys_rotate_run(struct cli *cli)
{
    const char *use = cli->choice.use != NULL ? cli->choice.use : "oidc";
    json_t *body = jsonx_own(cli->mem, json_pack("{s:o}", "use", output_string(use)));
    const struct call call = {.method = "POST", .path = "/admin/api/keys/rotate", .body = body};
    struct answer answer;
    if (!words_has(rotate_uses, use)) {
        output_error(
            "keys rotate: --use must be oidc, statement, audit or access, not '%s'; see `authzctl "
            "keys rotate --help`",
            use);
        return CLI_USAGE;
    }
    /* The operator of the database learns which setting is wrong; the API does not say it. */
    if (cli->choice.server == NULL && signing_keys_check(&cli->op) != AZ_OK)
        return output_fault(cli);
    if (body == NULL)
        return output_no_memory(cli);
    int status = call_run(cli, &call, NULL, &answer);
    if (status != CLI_OK)
        return status;
    output_line(cli, "the next keys are now active; the previous ones are retired");
    if (!cli->choice.quiet)
        output_rows(cli, answer.json, key_columns);
    return CLI_OK;
}
