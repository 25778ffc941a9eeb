/* JSON: what is read can be written and read again, and stays the same; and reading and writing do
 * what Jansson does (jsonx_model.h). */
#include "config.h"

#include <string.h>

#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "fuzz/jsonx_model.h"

#define DEPTH 16

struct sample {
    const char *text;
    int64_t integer;
    bool boolean;
    const json_t *list;
};

/* clang-format off */
static const struct field fields[] = {
    {"text",    FIELD_TEXT,      .required = true, .max = 8, FIELD_INTO(struct sample, text)},
    {"integer", FIELD_INTEGER,   .min = -5, .max = 5, FIELD_INTO(struct sample, integer)},
    {"boolean", FIELD_BOOLEAN,   FIELD_INTO(struct sample, boolean)},
    {"list",    FIELD_TEXT_LIST, .max = 3, .item_max = 4, FIELD_INTO(struct sample, list)},
};
/* clang-format on */

static void
read_sample(TALLOC_CTX *mem, const json_t *value)
{
    struct sample sample = {0};

    if (fields_read(mem, FIELDS(fields, 0), value, NULL, NULL, &sample, NULL) != AZ_OK)
        return;
    MUST(sample.text != NULL && utf8_length(sample.text, strlen(sample.text)) <= 8);
    MUST(sample.integer >= -5 && sample.integer <= 5);
    MUST(sample.list == NULL || json_array_size(sample.list) <= 3);
}

static void
check_written(const json_t *value, const char *text)
{
    MUST(text != NULL && model_written(text, value));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *value = NULL;
    json_t *again = NULL;
    json_t *model = model_parse((const char *) data, size, DEPTH);
    const char *why = NULL;

    if (jsonx_parse(mem, (const char *) data, size, DEPTH, &value, &why) == AZ_OK) {
        const char *text = jsonx_dump(mem, value);
        MUST(utf8_valid((const char *) data, size) && !text_has_nul((const char *) data, size));
        MUST(model != NULL && model_same(value, model));
        MUST(text != NULL);
        check_written(value, text);
        MUST(jsonx_parse(mem, text, strlen(text), DEPTH, &again, NULL) == AZ_OK);
        MUST(json_equal(value, again));
        read_sample(mem, value);
    } else {
        MUST(value == NULL && why != NULL && model == NULL);
    }
    json_decref(model);
    talloc_free(mem);
    return 0;
}
