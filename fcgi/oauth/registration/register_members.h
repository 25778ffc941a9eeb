/*
 * Rules for each member of client metadata, as a table. register_metadata.c has the rules between
 * members.
 */
#ifndef AZ_OAUTH_REGISTRATION_REGISTER_MEMBERS_H
#define AZ_OAUTH_REGISTRATION_REGISTER_MEMBERS_H

#include "base/json/fields.h"
#include "oauth/registration/register_metadata.h"

/* State of one reading. */
struct register_reading {
    struct op *op;
    const struct register_rules *rules;
    json_t *members; /* by their names */
};

/* Read every member of the table from the claims (or NULL), else from `plain`. Repeated items of
 * lists are removed. */
enum az_status register_members_read(struct register_reading *reading, const json_t *plain,
                                     const json_t *claims);

/* Refuse a member: `why` is a text that fits after its name. */
enum az_status register_refuse(struct register_reading *reading, const char *name, const char *why);
/* Return a member that is a text, or NULL if absent. */
const char *register_text(const struct register_reading *reading, const char *name);

/* ClientMetadata: the members of the body. */
extern const struct field_table register_table;

/* Client metadata (RFC 7591 section 2). */
extern const struct field_table register_table;

#endif
