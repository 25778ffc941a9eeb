/* Rows svc.cedar_data.<name>: the entities of Cedar rules, in the format of Cedar's own tools. In
 * the bundle they are one object with a canonical form, so that a decision looks an entity up by
 * its key; the rows stay as they were written. */
#ifndef AZ_POLICY_ROWS_CEDAR_DATA_H
#define AZ_POLICY_ROWS_CEDAR_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "base/status.h"

/* Key under which the bundle has the entities of all rows (svc.cedar.rt). */
#define CEDAR_DATA_UNITED "svc.cedar_data.entities"

struct cedar_data_row {
    const char *data_key;
    const char *payload; /* JSON text */
};

/* True for the key of a row with entities: one word below svc.cedar_data other than `types`, which
 * is the key of the map of types. */
bool cedar_data_holds_entities(const char *data_key);

/*
 * Unite the entities of all rows. AZ_OK: *ret_text is the JSON object for CEDAR_DATA_UNITED, on
 * mem. AZ_INVALID: *ret_failures lists places of the row `data_key` (json_schema.h): it is no list
 * of entities, one of them is in another row too, or an entity is its own ancestor. `data_key` may
 * be NULL, if the rows were judged before.
 */
enum az_status cedar_data_unite(TALLOC_CTX *mem, const struct cedar_data_row *row, size_t rows,
                                const char *data_key, char **ret_text, json_t **ret_failures);

#endif
