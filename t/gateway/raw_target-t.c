/* Proxy and door take the same raw characters, and read one text of them (decisions.md "Gateway").
 */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "base/raw_uri.h"
#include "gateway/check/forwarded.h"
#include "gateway/upstream/target.h"
#include "tap.h"

static TALLOC_CTX *mem;

/* Return the text that the upstream of the proxy gets, or NULL if it is refused. */
static const char *
sent_by_proxy(const char *path, const char *query)
{
    char *target;
    const char *raw_path = raw_uri_encode(mem, path, RAW_URI_PATH);
    const char *raw_query = raw_uri_encode(mem, query, RAW_URI_QUERY);
    return upstream_target(mem, "", raw_path, raw_query, &target) == AZ_OK ? target : NULL;
}

/* Return the text that policy is asked about at a door, or NULL if it is refused. */
static const char *
read_at_door(const char *path, const char *query, enum az_status *ret)
{
    struct forwarded read;
    const char *why, *uri = talloc_asprintf(mem, "%s%s%s", path, *query != '\0' ? "?" : "", query);
    const struct forwarded_fields fields = {"GET", "https", "h", uri};
    *ret = forwarded_read(mem, &fields, &read, &why);
    return *ret == AZ_OK
               ? talloc_asprintf(mem, "%s%s%s", read.raw, *query != '\0' ? "?" : "", read.query)
               : NULL;
}

/* One octet in a path or a query. A semicolon is the one that a door refuses and the proxy does
 * not: the proxy encodes it in a query, and looks at path parameters itself. */
static void
test_octet(int octet, bool in_query)
{
    char text[] = {'/', 'a', (char) octet, '4', '1', '\0'};
    const char *path = in_query ? "/" : text, *query = in_query ? text + 1 : "";
    enum az_status st;
    const char *door = read_at_door(path, query, &st), *proxy = sent_by_proxy(path, query);
    const char *where = in_query ? "a query" : "a path";
    if (octet == ';')
        is_int(st, AZ_FORBIDDEN, "G3: ; in %s of a door", where);
    else
        is_str(door, proxy, "G3 door_same_text: octet %02x in %s is %s at proxy and door",
               (unsigned) octet, where, proxy != NULL ? "the same text" : "refused");
    if (proxy == NULL && octet != ';')
        is_int(st, AZ_INVALID, "... as a character that is none of an address");
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    for (int octet = 1; octet < 256; octet++) {
        if (octet != '?' && octet != '/')
            test_octet(octet, false);
        test_octet(octet, true);
    }
    talloc_free(mem);
    return done();
}
