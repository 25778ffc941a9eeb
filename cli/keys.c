/* keys: the keys that sign ID tokens. */
#include "config.h"

#include "output.h"
#include "store/signing_keys.h"
#include "verbs.h"

int
keys_list_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"kid",         "KID"    },
        {"use",         "USE"    },
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

/* The stored keys must open first: a new key sealed under another credential key would lock the
 * service out. */
int
keys_rotate_run(struct cli *cli)
{
    if (signing_keys_check(&cli->op) != AZ_OK || signing_keys_rotate(&cli->op) != AZ_OK)
        return output_fault(cli);
    output_line(cli, "the next key signs from now on; the active one is retired");
    return cli->choice.quiet ? CLI_OK : keys_list_run(cli);
}
