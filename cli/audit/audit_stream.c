/* audit stream: how far the rows and checkpoints are that the service sends to other servers. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "audit/posts.h"
#include "audit/stream.h"
#include "base/digits.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "store/audit/proof/outgoing.h"

const struct cli_option audit_stream_options[] = {
    {"from",                                         0, "ID",  offsetof(struct cli_choices,                   from),                       false,
     "Send the row ID and all later ones, whatever was sent before"},
    {"send",                                              0,                                          NULL, offsetof(struct cli_choices, send), false,
     "Send now what waits, in place of the service"},
    {NULL, 0,  NULL,    0,                                                false,                                                                      NULL                                                                      },
};

/* Go on with a row. CLI_USAGE after the error has been printed. */
static int
move_to(struct cli *cli)
{
    int64_t id;
    if (!digits_read(cli->choice.from, INT64_MAX, &id) || id == 0) {
        output_error("%s: --from must be the id of an audit row, not '%s'", cli->path,
                     cli->choice.from);
        return CLI_USAGE;
    }
    return outgoing_move(&cli->op, OUTGOING_ROWS, id - 1) == AZ_OK ? CLI_OK : output_fault(cli);
}

static int
send_now(struct cli *cli)
{
    struct streamed done;
    int64_t posted;
    log_level_set(cli->choice.quiet ? "error" : "warn");
    if (audit_stream_run(&cli->op, &done) != AZ_OK || audit_posts_run(&cli->op, &posted) != AZ_OK)
        return output_fault(cli);
    output_line(cli,
                "%" PRId64 " rows sent, %" PRId64 " skipped, %" PRId64 " checkpoints posted%s%s",
                done.sent, done.skipped, posted, done.note != NULL ? "; " : "",
                done.note != NULL ? done.note : "");
    return CLI_OK;
}

static json_t *
outgoing_json(const struct outgoing *outgoing)
{
    return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:s*,s:s*,s:s*}", "name", outgoing->name,
                     "upTo", (json_int_t) outgoing->up_to, "sent", (json_int_t) outgoing->sent,
                     "rejected", (json_int_t) outgoing->rejected, "skipped",
                     (json_int_t) outgoing->skipped, "passed", (json_int_t) outgoing->passed,
                     "tries", (json_int_t) outgoing->tries, "held", outgoing->held, "error",
                     outgoing->error, "sentAt", outgoing->sent_at, "nextAt", outgoing->next_at);
}

static void
print_outgoing(const struct outgoing *outgoing)
{
    output_print(
        "%s\n  up to        %" PRId64 "\n  sent         %" PRId64 "\n  not kept     %" PRId64
        "\n  skipped      %" PRId64 "\n  dropped      %" PRId64 "\n  last sent    %s\n",
        outgoing->name, outgoing->up_to, outgoing->sent, outgoing->rejected, outgoing->skipped,
        outgoing->passed, outgoing->sent_at != NULL ? outgoing->sent_at : "-");
    if (outgoing->error != NULL)
        output_print("  %s %s\n  next try     %s\n",
                     outgoing->held ? "held        " : "error       ", outgoing->error,
                     outgoing->next_at != NULL ? outgoing->next_at : "-");
}

int
audit_stream_verb_run(struct cli *cli)
{
    static const char *const names[] = {OUTGOING_ROWS, OUTGOING_CHECKPOINTS};
    int status = cli->choice.from != NULL ? move_to(cli) : CLI_OK;
    bool held = false;
    json_t *list = jsonx_own(cli->mem, json_array());
    if (status == CLI_OK && cli->choice.send)
        status = send_now(cli);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && status == CLI_OK; i++) {
        struct outgoing outgoing = {.name = names[i]};
        if (outgoing_read(&cli->op, &outgoing) != AZ_OK)
            return output_fault(cli);
        held = held || outgoing.held;
        if (outgoing.begun && cli->choice.json)
            json_array_append_new(list, outgoing_json(&outgoing));
        else if (outgoing.begun)
            print_outgoing(&outgoing);
    }
    if (status == CLI_OK && cli->choice.json)
        output_json(list);
    return status == CLI_OK && held ? CLI_FAILED : status;
}
