#include "config.h"

#include "policy/save/bundle/cedar_data_check.h"

#include "policy/rows/cedar_data.h"

/* Return the rows with entities, on op->mem; NULL: no memory. */
static struct cedar_data_row *
rows_with_entities(struct op *op, const struct bundle_rows *rows, size_t *ret_count)
{
    struct cedar_data_row *row =
        talloc_array(op->mem, struct cedar_data_row, (unsigned) rows->data + 1);
    *ret_count = 0;
    for (size_t i = 0; row != NULL && i < rows->data; i++)
        if (cedar_data_holds_entities(rows->data_key[i]))
            row[(*ret_count)++] = (struct cedar_data_row){rows->data_key[i], rows->data_payload[i]};
    return row;
}

/* Unite the rows, and say what is wrong with the row `data_key`. */
static enum az_status
unite_rows(struct op *op, const struct bundle_rows *rows, const char *data_key, char **ret_text,
           json_t **ret_failures)
{
    size_t count;
    struct cedar_data_row *row = rows_with_entities(op, rows, &count);
    enum az_status st = AZ_SERVER_ERROR;
    if (row != NULL)
        st = count > 0 ? cedar_data_unite(op->mem, row, count, data_key, ret_text, ret_failures)
                       : AZ_OK;
    return st != AZ_SERVER_ERROR ? st
                                 : op_fail(op, st, NULL, "out of memory for the Cedar entities");
}

enum az_status
cedar_data_check(struct op *op, const char *data_key, json_t **ret_failures)
{
    struct bundle_rows rows;
    char *text = NULL;
    if (!cedar_data_holds_entities(data_key))
        return AZ_OK;
    enum az_status st = bundle_rows_fetch(op, &rows);
    if (st == AZ_OK)
        st = unite_rows(op, &rows, data_key, &text, ret_failures);
    /* Failures of another row of a deploy are found when that row is checked. */
    if (st != AZ_INVALID || json_array_size(*ret_failures) == 0)
        return st != AZ_INVALID ? st : AZ_OK;
    return op_fail(op, AZ_UNPROCESSABLE,
                   "The payload is not a list of Cedar entities that goes with the other rows",
                   "%zu failures of the entities of %s", json_array_size(*ret_failures), data_key);
}

enum az_status
cedar_data_of_bundle(struct op *op, const struct bundle_rows *rows, char **ret_text)
{
    json_t *failures = NULL;
    enum az_status st = unite_rows(op, rows, NULL, ret_text, &failures);
    return st != AZ_INVALID
               ? st
               : op_fail(op, AZ_CONFLICT, "The rows below svc.cedar_data do not go together", NULL);
}
