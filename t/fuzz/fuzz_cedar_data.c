/* A row with entities of Cedar, beside another one. What is taken is an object of JSON; what is
 * refused has a failure in this row. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "policy/rows/cedar_data.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *payload = talloc_strndup(mem, (const char *) data, size);
    const struct cedar_data_row rows[] = {
        {"svc.cedar_data.fuzz",  payload                                                                            },
        {"svc.cedar_data.other", "[{\"uid\":{\"type\":\"User\",\"id\":\"bob\"},"
                                 "\"parents\":[{\"type\":\"Group\",\"id\":\"a\"}]}]"},
    };
    char *text = NULL;
    json_t *failures = NULL, *value = NULL;
    enum az_status st = cedar_data_unite(mem, rows, 2, rows[0].data_key, &text, &failures);
    MUST(st == AZ_OK || st == AZ_INVALID);
    MUST(st != AZ_INVALID || json_array_size(failures) > 0);
    /* A text with U+0000 is JSON, but no row contains it. */
    if (st == AZ_OK && strstr(text, "\\u0000") == NULL)
        MUST(jsonx_parse(mem, text, strlen(text), 300, &value, NULL) == AZ_OK
             && json_object_size(value) > 0);
    talloc_free(mem);
    return 0;
}
