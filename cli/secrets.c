/* secrets reseal: the step of a change of SVC_CREDENTIAL_KEY that touches the database. */
#include "config.h"

#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "store/seals/seals.h"

int
secrets_reseal_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"kind",       "KIND"      },
        {"resealed",   "RESEALED"  },
        {"unreadable", "UNREADABLE"},
        {"changed",    "CHANGED"   },
        {NULL,         NULL        }
    };
    struct seals_count count[SEALS_KINDS];
    json_t *rows = jsonx_own(cli->mem, json_array());
    int unreadable = 0;
    if (seals_renew(&cli->op, count) != AZ_OK)
        return output_fault(cli);
    for (size_t i = 0; i < SEALS_KINDS; i++) {
        unreadable += count[i].unreadable;
        json_array_append_new(rows, json_pack("{s:s,s:i,s:i,s:i}", "kind", count[i].kind,
                                              "resealed", count[i].resealed, "unreadable",
                                              count[i].unreadable, "changed", count[i].changed));
    }
    output_rows(cli, rows, columns);
    if (unreadable == 0)
        return CLI_OK;
    output_error("secrets reseal: neither SVC_CREDENTIAL_KEY nor SVC_CREDENTIAL_KEY_PREVIOUS opens "
                 "%d secrets; set the key that sealed them, and run it again",
                 unreadable);
    return CLI_FAILED;
}
