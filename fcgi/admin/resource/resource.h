/*
 * A resource of the admin API is a table: the handlers below list, get, create, replace and delete
 * the rows of the resource that their route names (`arg` of struct route). resource/README lists
 * the places of a new resource.
 */
#ifndef AZ_ADMIN_RESOURCE_H
#define AZ_ADMIN_RESOURCE_H

#include "admin/resource/resource_body.h"
#include "crypto/keyring.h"
#include "http/route.h"
#include "store/db/rows/json_rows.h"

/* A secret that comes with a row: sealed for this row alone, so that it does not open in another.
 */
struct resource_secret {
    enum keyring_purpose purpose;                           /* key that seals it */
    const char *(*place)(TALLOC_CTX *mem, const char *key); /* place that it is sealed for */
    bool shown_once;                                        /* the answer to the POST has it */
};

struct admin_resource {
    const struct json_rows *rows;         /* statements */
    const struct resource_body *body;     /* NULL: nothing is written */
    const struct resource_secret *secret; /* NULL: rows have none */
    int64_t list_max; /* rows of a list in pages without page and size (resource_page.h); 0: all */
    bool key_is_number;  /* keys are ids: any other path is a 404 */
    bool taken_is_empty; /* the 409 to a POST with a key that is taken has no body */

    /* Read the facts of the stored row that the rules of a PUT depend on; *ret stays NULL for an
     * unknown row. NULL: no rule depends on the stored row. */
    enum az_status (*load)(struct op *op, const char *key, const void **ret);

    /* Add the values that the body does not have: a key, a secret, columns. NULL if the resource
     * needs no such values. */
    enum az_status (*complete)(struct op *op, struct resource_reading *reading);

    /* Add to what is shown what this process finds about the rows: *text is the row of a key, or an
     * array of them (key NULL). NULL: nothing is added. */
    enum az_status (*show)(struct op *op, const char *key, const char **text);

    /* Check that the caller may delete the row. NULL: the role of the route suffices. */
    enum az_status (*may_delete)(struct op *op, const char *key);

    /* Called after each write, also after one whose outcome is unknown: forget what this process
     * remembers of the row. NULL: nothing is remembered. */
    void (*written)(struct op *op, const char *key);

    /* Return sentences about functions that do not work with the row as stored, which the answer to
     * a POST or PUT has as `warnings` if there are any; members may be added to the row that is
     * shown. Called after the write; it cannot refuse. NULL: nothing is checked; not for rows whose
     * secret is shown once. */
    json_t *(*warn)(struct op *op, json_t *row);
};

/* Answer 200 with the array of all rows. The parameters of the route are filters, in the order of
 * the parameters of the statement. */
enum az_status resource_list_handle(struct request *req);

/* The row of a resource that has versions is answered with its version as ETag. A write with
 * If-Match is 412 unless the stored row has that version (RFC 9110 13.1.1). */

/* Answer 200 with the row of the path, or 404. */
enum az_status resource_get_handle(struct request *req);

/* Create a row. Answer 201 with the row as stored, and with its secret if the table says so; 400,
 * 409. */
enum az_status resource_create_handle(struct request *req);

/* Replace the row of the path. Answer 200 with the row as stored; 400, 404, 409, 412. */
enum az_status resource_put_handle(struct request *req);

/* Delete the row of the path. Answer 204, 404 or 412. */
enum az_status resource_delete_handle(struct request *req);

/* Answer 200 with a row as JSON text, or 404 for NULL; the noun is for the log. */
enum az_status resource_respond(struct request *req, const char *noun, const char *dto);

/* Read the members of the body into *ret; an absent body (BODY_JSON_OPTIONAL) has none. Every fault
 * is in the answer's fieldErrors. */
enum az_status resource_read_fields(struct request *req, const struct field_table *table,
                                    void *ret);

/* Wipe every text of a value: a secret may be in a list, or in a member that was misspelt. */
void resource_wipe_json(const json_t *value);

/* Name the row that is written in the audit row: {member: key}. */
void resource_note(struct request *req, const char *member, const char *key);

#endif
