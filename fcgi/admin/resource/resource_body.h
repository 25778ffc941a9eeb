/* The JSON object of an admin resource, read by its field table and the rules between its fields.
 * Knows nothing of HTTP. */
#ifndef AZ_ADMIN_RESOURCE_BODY_H
#define AZ_ADMIN_RESOURCE_BODY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/json/fields.h"
#include "http/request.h"
#include "http/route.h"

struct settings;
struct resource_reading;

/* The members of the object of a resource: one table per resource. */
struct resource_body {
    const struct field_table *fields; /* its members */
    const char *key;                  /* member that names the row: "clientId" */
    bool key_fixed;     /* PUT: another key than that of the path is a fault; false: the key
                           of the body is ignored */
    const char *secret; /* member that is sealed and never shown again, or NULL */
    void (*check)(struct resource_reading *reading); /* rules between fields, or NULL */
};

/* One reading: the first members are set by the caller, the rest by resource_body_read. */
struct resource_reading {
    TALLOC_CTX *mem;            /* owns what is made */
    const struct settings *cfg; /* limits that are settings */
    json_t *object;             /* the body; a key of the path is added to it */
    const char *path_key;       /* PUT: the row; NULL for a POST */
    const void *stored;         /* PUT: what the resource's `load` found */
    field_fault_fn *fault;      /* called for each fault */
    void *fault_arg;            /* its first argument */

    const char *version; /* PUT, set by the resource's `complete`: the version of the stored row
                            that the columns were made from; NULL: of any */
    const char *key;     /* the row; NULL: not given */
    const char *secret;  /* secret as given, or NULL */
    json_t *columns;     /* values by column; NULL when a field is at fault */
    bool faulty;         /* a fault was told */
    bool lost;           /* memory ran out */
};

/*
 * Read an object and tell every fault. AZ_INVALID: there was one. AZ_SERVER_ERROR: out of memory.
 * Texts live as long as mem and the object. On failure the reading names no key, secret or columns.
 */
enum az_status resource_body_read(const struct resource_body *body,
                                  struct resource_reading *reading);

/* ---- for the rules between fields ---- */

/* Report a fault of a member. */
void resource_tell(struct resource_reading *reading, const char *name, const char *why);

/* Return the text of a member; NULL when it is absent or not a string. */
const char *resource_text(const struct resource_reading *reading, const char *name);

/* True if a member is this text. */
bool resource_text_is(const struct resource_reading *reading, const char *name, const char *text);

/* Set a column to a value, whose reference is taken over. Does nothing after a fault. */
void resource_set_column(struct resource_reading *reading, const char *column, json_t *value);

/* The parameter `owner`, for routes that write objects. */
extern const struct route_param resource_owner_params[];
#define RESOURCE_OWNER_PARAM                                                                       \
    {                                                                                              \
        .name = "owner", .help = "Mark the object in the same transaction: the owner of "          \
                                 "instance.json. 409 if it belongs to another owner"               \
    }

/* Read the parameter of the query; *ret is NULL without it. */
enum az_status resource_owner_read(struct request *req, const char **ret);

/* Read the first {name} of the path. AZ_NOT_FOUND: not an id, so no row has it. */
enum az_status path_id_read(struct request *req, int64_t *ret);

#endif
