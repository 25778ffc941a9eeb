/* The choice of a route: an input is a raw path. What is chosen leads to a safe path at the
 * upstream, below its prefix. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "managed/choose.h"
#include "managed/document.h"

static const char document[] =
    "{\"name\":\"api\",\"displayName\":\"API\",\"upstreamType\":\"REST\","
    "\"upstreamUrl\":\"https://api.example\",\"routes\":["
    "{\"id\":\"a\",\"path\":\"/a/{x}\",\"upstreamPath\":\"/in/{x}\"},"
    "{\"id\":\"b\",\"path\":\"/b/{x}/{y}\",\"upstreamPath\":\"/in/{y}/{x}\"},"
    "{\"id\":\"c\",\"path\":\"/c/**\",\"upstreamPath\":\"/in/**\"},"
    "{\"id\":\"d\",\"path\":\"/**\",\"upstreamPath\":\"/in/**\"}]}";

/* No element may lead upwards, raw or decoded. */
static void
check_path(const char *path)
{
    MUST(strncmp(path, "/in", 3) == 0 && (path[3] == '\0' || path[3] == '/'));
    for (const char *c = path; *c != '\0'; c++) {
        MUST((unsigned char) *c > 0x20 && (unsigned char) *c < 0x7f);
        MUST(strchr("\\?#\"<>", *c) == NULL);
    }
    for (const char *at = path; at != NULL; at = strchr(at + 1, '/')) {
        size_t length = strcspn(at + 1, "/;");
        MUST(!(length == 1 && at[1] == '.') && !(length == 2 && at[1] == '.' && at[2] == '.'));
        MUST(!(length == 3 && strncasecmp(at + 1, "%2e", 3) == 0));
        MUST(!(length == 6 && strncasecmp(at + 1, "%2e%2e", 6) == 0));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct managed_resource resource;
    struct managed_choice choice;
    json_t *object = NULL;
    char *path = talloc_strndup(mem, (const char *) data, size), *upstream = NULL;

    MUST(jsonx_parse(mem, document, strlen(document), 8, &object, NULL) == AZ_OK);
    const struct managed_reading reading = {.mem = mem, .document = object};
    MUST(managed_read(&reading, &resource) == AZ_OK);
    enum az_status st = managed_choose(mem, &resource, "GET", path, &choice);
    MUST(st == AZ_OK || st == AZ_INVALID_REQUEST || st == AZ_NOT_FOUND);
    if (st == AZ_OK) {
        st = managed_upstream_path(mem, &resource, "GET", &choice, &upstream);
        MUST(st == AZ_OK || st == AZ_INVALID_REQUEST);
        if (st == AZ_OK)
            check_path(upstream);
    }
    talloc_free(mem);
    return 0;
}
