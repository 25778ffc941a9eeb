/* keys: list and rotate the keys that sign ID tokens and software statements, by the admin API
 * (call.h). */
#include "config.h"

#include "base/jsonx.h"
#include "base/words.h"
#include "call.h"
#include "output.h"
#include "store/tokens/signing_keys.h"
#include "verbs.h"

#define KEYS_PATH "/admin/api/keys"

const struct cli_option keys_rotate_options[] = {
    {"use", 0, "USE", offsetof(struct cli_choices, use), false,
     "Keys to rotate: oidc for ID tokens (default) or statement for software statements"},
    CLI_YES,
    {NULL,     0,   NULL,   0,                        false,                         NULL },
};

static const char *const key_uses[] = {"oidc", "statement", NULL};

/* Send the request, and print the keys of the answer. */
static int
keys_call(struct cli *cli, const struct call *call)
{
    static const struct output_column columns[] = {
        {"kid",            "KID"            },
        {"use",            "USE"            },
        {"alg",            "ALG"            },
        {"state",          "STATE"          },
        {"createdAt",      "CREATED"        },
        {"activatedAt",    "ACTIVE"         },
        {"retiredAt",      "RETIRED"        },
        {"publishedUntil", "PUBLISHED UNTIL"},
        {NULL,             NULL             }
    };
    struct answer answer;
    int status = call_run(cli, call, NULL, &answer);
    if (status != CLI_OK)
        return status;
    if (call->body != NULL)
        output_line(cli, "the next keys are now active; the previous ones are retired");
    if (call->body == NULL || !cli->choice.quiet)
        output_rows(cli, answer.json, columns);
    return CLI_OK;
}

int
keys_list_run(struct cli *cli)
{
    const struct call call = {.method = "GET", .path = KEYS_PATH};
    return keys_call(cli, &call);
}

int
keys_rotate_run(struct cli *cli)
{
    const char *use = cli->choice.use != NULL ? cli->choice.use : "oidc";
    json_t *body = jsonx_own(cli->mem, json_pack("{s:o}", "use", output_string(use)));
    const struct call call = {.method = "POST", .path = KEYS_PATH "/rotate", .body = body};
    if (!words_has(key_uses, use)) {
        output_error("keys rotate: --use must be oidc or statement, not '%s'; see `authzctl keys "
                     "rotate --help`",
                     use);
        return CLI_USAGE;
    }
    /* The operator of the database learns which setting is wrong; the API does not say it. */
    if (cli->choice.server == NULL && signing_keys_check(&cli->op) != AZ_OK)
        return output_fault(cli);
    return body != NULL ? keys_call(cli, &call) : output_no_memory(cli);
}
