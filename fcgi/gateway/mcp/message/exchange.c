#include "config.h"

#include "gateway/mcp/message/exchange.h"

#include "base/clock.h"

void
mcp_note(struct mcp_exchange *it, struct jsonx_build *summary, int64_t began_ms, int status,
         size_t octets)
{
    struct request *req = it->req;
    if (began_ms != 0) {
        jsonx_set(summary, "upstream_status", json_integer(status));
        jsonx_set(summary, "ms", json_integer((json_int_t) (clock_monotonic_ms() - began_ms)));
        jsonx_set(summary, "octets", json_integer((json_int_t) octets));
    }
    const json_t *whole = jsonx_built(summary);
    req->audit.summary = whole != NULL ? jsonx_dump(req->op.mem, whole) : NULL;
}
