/* Requests of Cedar that are tried. What is taken is an input with the five members of the
 * runtime. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "policy/rows/cedar_trial.h"

/* Nesting that the admin API lets through, and more. */
#define REQUEST_DEPTH_MAX 64

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *request = NULL, *input = NULL;
    const char *why = NULL, *text = size > 0 ? (const char *) data : "";
    if (jsonx_parse(mem, text, size, REQUEST_DEPTH_MAX, &request, NULL) == AZ_OK
        && json_is_object(request)) {
        enum az_status st = cedar_trial_input(mem, request, &input, &why);
        MUST(st == AZ_OK || st == AZ_INVALID);
        MUST((st == AZ_OK) == (why == NULL));
        const json_t *cedar = json_object_get(input, "cedar");
        MUST(st != AZ_OK || (json_object_size(input) == 1 && json_object_size(cedar) == 5));
        MUST(st != AZ_OK || json_is_object(json_object_get(cedar, "entities")));
    }
    talloc_free(mem);
    return 0;
}
