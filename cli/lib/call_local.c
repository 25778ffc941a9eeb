/* The carrier without --server: the dispatcher of the service, in this process, on the database. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/settings/settings.h"
#include "cli/lib/call.h"
#include "cli/lib/output.h"
#include "http/serve/dispatch.h"

/* Value of User-Agent, for audit rows. */
#define AGENT PACKAGE_NAME "ctl/" PACKAGE_VERSION

/* The gateway of one request. */
struct gateway {
    struct arrival *arrival;
    const char *target, *length; /* variables REQUEST_URI and CONTENT_LENGTH */
    size_t read;                 /* octets of the body that were read */
};

static const char *
gateway_variable(const struct http_io *io, const char *name)
{
    const struct gateway *gateway = io->handle;
    const struct call *call = gateway->arrival->call;
    const bool body = gateway->arrival->body != NULL;
    const struct query_pair set[] = {
        {"REQUEST_METHOD",  call->method                    },
        {"REQUEST_URI",     gateway->target                 },
        {"CONTENT_TYPE",    body ? "application/json" : NULL},
        {"CONTENT_LENGTH",  body ? gateway->length : NULL   },
        {"HTTP_IF_MATCH",   call->if_match                  },
        {"HTTP_USER_AGENT", AGENT                           },
    };
    for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
        if (strcmp(set[i].name, name) == 0)
            return set[i].value;
    return NULL;
}

static long
gateway_read(const struct http_io *io, void *buffer, size_t size)
{
    struct gateway *gateway = io->handle;
    const char *body = gateway->arrival->body;
    size_t left = body != NULL ? strlen(body) - gateway->read : 0;
    size_t count = left < size ? left : size;
    if (count > 0)
        memcpy(buffer, body + gateway->read, count);
    gateway->read += count;
    return (long) count;
}

/* Take the answer. The dispatcher writes the head whole, with the beginning of the body. */
static bool
gateway_write(const struct http_io *io, const void *octets, size_t size)
{
    struct arrival *arrival = ((struct gateway *) io->handle)->arrival;
    const char *end = arrival->ended ? octets : memmem(octets, size, "\r\n\r\n", 4);
    size_t head = arrival->ended || end == NULL ? 0 : (size_t) (end - (const char *) octets) + 4;
    if (!arrival->ended) {
        if (end == NULL || !arrival_head(arrival, octets, head - 2))
            return false;
        arrival->ended = true;
        if (strncmp(arrival->head, "Status: ", 8) == 0)
            arrival->status = (int) strtol(arrival->head + 8, NULL, 10);
    }
    return head == size || arrival_body(arrival, (const char *) octets + head, size - head);
}

static void
gateway_finish(const struct http_io *io)
{
    (void) io;
}

static void
gateway_cut(const struct http_io *io)
{
    ((struct gateway *) io->handle)->arrival->cut = true;
}

/* Return the target below the path of the issuer, where the routes are. */
static char *
local_target(const struct cli *cli, const char *target)
{
    const char *issuer = cli->az->cfg->oidc_issuer, *authority = strstr(issuer, "://");
    const char *base = authority != NULL ? strchr(authority + 3, '/') : NULL;
    return talloc_asprintf(cli->mem, "%s%s", base != NULL ? base : "", target);
}

int
call_local(struct arrival *arrival)
{
    struct cli *cli = arrival->cli;
    struct gateway gateway = {
        .arrival = arrival,
        .target = local_target(cli, arrival->target),
        .length =
            arrival->body != NULL ? talloc_asprintf(cli->mem, "%zu", strlen(arrival->body)) : ""};
    const struct http_io io = {.handle = &gateway,
                               .variable = gateway_variable,
                               .read = gateway_read,
                               .write = gateway_write,
                               .finish = gateway_finish,
                               .cut = gateway_cut};
    if (gateway.target == NULL || gateway.length == NULL)
        return output_no_memory(cli);
    cli->by_operator = (struct az_operator){.label = "authzctl", .watch = cli->op.watch};
    cli->az->by_operator = &cli->by_operator;
    dispatch(cli->az, &io);
    if (arrival->cut && !arrival->stopped) {
        output_error("%s: the answer broke off; see the log of PostgreSQL", cli->path);
        return CLI_UNAVAILABLE;
    }
    if (arrival->status != 0 || arrival->too_large)
        return CLI_OK;
    return output_no_memory(cli);
}
