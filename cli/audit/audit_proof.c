/* audit prove, consistency, keys, checkpoint, lines and seal: what the log over all audit rows has.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "store/audit/proof/log_lines.h"
#include "store/audit/proof/proof.h"
#include "store/audit/proof/seal/seal.h"
#include "store/audit/proof/seal/seal_file.h"
#include "store/audit/proof/seal/signed.h"

const struct cli_option audit_seal_options[] = {
    {"after",                                                            0, "N",        offsetof(struct cli_choices,                                      after),                      false,
     "With --new-epoch: the largest number of an epoch that is known elsewhere"},
    {"new-epoch",                                                                  0,                                                         "REASON", offsetof(struct cli_choices, note), false,
     "Begin a new log, because the database lost rows that were sealed"},
    {NULL, 0,  NULL,         0,                                                                        false,                                                                                              NULL                                                                                         },
};

/* Read an argument that is a number. CLI_USAGE after the error has been printed. */
static int
read_number(const struct cli *cli, size_t argument, int64_t *ret)
{
    if (digits_read(cli->args[argument], INT64_MAX, ret))
        return CLI_OK;
    output_error("%s: '%s' must be a number", cli->path, cli->args[argument]);
    return CLI_USAGE;
}

int
audit_prove_run(struct cli *cli)
{
    const char *proof;
    int64_t id;
    int status = read_number(cli, 0, &id);
    if (status != CLI_OK)
        return status;
    if (audit_prove(&cli->op, id, &proof) != AZ_OK)
        return output_fault(cli);
    output_content(proof);
    return CLI_OK;
}

int
audit_consistency_run(struct cli *cli)
{
    const char *proof;
    int64_t old, size;
    int status = read_number(cli, 0, &old);
    if (status == CLI_OK)
        status = read_number(cli, 1, &size);
    if (status != CLI_OK)
        return status;
    if (audit_prove_consistency(&cli->op, old, size, &proof) != AZ_OK)
        return output_fault(cli);
    output_content(proof);
    return CLI_OK;
}

int
audit_checkpoint_run(struct cli *cli)
{
    const char *note;
    if (audit_checkpoint_read(&cli->op, &note) != AZ_OK)
        return output_fault(cli);
    if (note == NULL) {
        output_error("%s: there is no checkpoint yet; `authzctl audit seal` makes one if there "
                     "are audit rows",
                     cli->path);
        return CLI_FAILED;
    }
    output_content(note);
    return CLI_OK;
}

int
audit_keys_run(struct cli *cli)
{
    json_t *keys;
    if (audit_log_keys(&cli->op, &keys) != AZ_OK)
        return output_fault(cli);
    output_json(jsonx_own(cli->mem, json_pack("{s:O}", "keys", keys)));
    return CLI_OK;
}

/* Begin an epoch. The exit status after the error has been printed. */
static int
begin_epoch(struct cli *cli)
{
    int64_t after = 0;
    const char *text = cli->choice.after;
    if (text != NULL && !digits_read(text, AUDIT_EPOCH_MAX - 1, &after)) {
        output_error("%s: --after must be the number of an epoch below %d, such as 3 of "
                     "example.com/audit/3, not '%s'",
                     cli->path, AUDIT_EPOCH_MAX, text);
        return CLI_USAGE;
    }
    if (audit_seal_new_epoch(&cli->op, cli->choice.note, after) != AZ_OK
        || audit_seal_file(&cli->op) != AZ_OK)
        return output_fault(cli);
    return CLI_OK;
}

int
audit_seal_run(struct cli *cli)
{
    struct audit_sealed sealed;
    if (cli->choice.after != NULL && cli->choice.note == NULL) {
        output_error("%s: --after needs --new-epoch", cli->path);
        return CLI_USAGE;
    }
    int status = cli->choice.note != NULL ? begin_epoch(cli) : CLI_OK;
    if (status != CLI_OK)
        return status;
    if (audit_seal(&cli->op, &sealed) != AZ_OK || audit_seal_file(&cli->op) != AZ_OK)
        return output_fault(cli);
    output_line(cli, "%lld audit rows sealed; the log has %lld leaves", (long long) sealed.rows,
                (long long) sealed.size);
    return CLI_OK;
}

/* Print a line of the log. */
static bool
print_line(void *context, const char *line, size_t length)
{
    (void) context;
    return output_octets(line, length) && putchar('\n') != EOF;
}

int
audit_lines_run(struct cli *cli)
{
    return audit_log_lines(&cli->op, print_line, NULL) == AZ_OK ? CLI_OK : output_fault(cli);
}
