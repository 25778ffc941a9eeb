/* keys: list and rotate the keys that sign ID tokens and software statements. */
#include "config.h"

#include <string.h>

#include "output.h"
#include "store/tokens/signing_keys_turn.h"
#include "verbs.h"

const struct cli_option keys_rotate_options[] = {
    {"use", 0, "USE", offsetof(struct cli_choices, use), false,
     "Keys to rotate: oidc for ID tokens (default) or statement for software statements"},
    CLI_YES,
    {NULL,     0,   NULL,   0,                        false,                         NULL },
};

int
keys_list_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"kid",         "KID"    },
        {"use",         "USE"    },
        {"alg",         "ALG"    },
        {"state",       "STATE"  },
        {"createdAt",   "CREATED"},
        {"activatedAt", "ACTIVE" },
        {"retiredAt",   "RETIRED"},
        {NULL,          NULL     }
    };
    json_t *rows;
    if (signing_keys_list(&cli->op, &rows) != AZ_OK)
        return output_fault(cli);
    output_rows(cli, rows, columns);
    return CLI_OK;
}

static const struct use {
    const char *word;     /* value of --use */
    enum signing_use use; /* its meaning */
} uses[] = {
    {"oidc",      SIGNING_OIDC     },
    {"statement", SIGNING_STATEMENT},
};

static const struct use *
find_use(const char *word)
{
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
        if (strcmp(uses[i].word, word) == 0)
            return &uses[i];
    return NULL;
}

/* Check first that the stored keys open: the service could not read a new key sealed under another
 * credential key. */
int
keys_rotate_run(struct cli *cli)
{
    const struct use *use = find_use(cli->choice.use != NULL ? cli->choice.use : "oidc");
    if (use == NULL) {
        output_error("keys rotate: --use must be oidc or statement, not '%s'; see `authzctl keys "
                     "rotate --help`",
                     cli->choice.use);
        return CLI_USAGE;
    }
    if (signing_keys_check(&cli->op) != AZ_OK || signing_keys_rotate(&cli->op, use->use) != AZ_OK)
        return output_fault(cli);
    output_line(cli, "the next keys are now active; the previous ones are retired");
    return cli->choice.quiet ? CLI_OK : keys_list_run(cli);
}
