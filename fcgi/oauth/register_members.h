/*
 * The members of client metadata one by one: the table of which there are and what each must be.
 * What they must be together is register_metadata.c's.
 */
#ifndef AZ_OAUTH_REGISTER_MEMBERS_H
#define AZ_OAUTH_REGISTER_MEMBERS_H

#include "oauth/register_metadata.h"

/* What one reading carries along. */
struct register_reading {
    struct op *op;
    const struct register_rules *rules;
    json_t *members; /* read so far, by their names */
};

/* Reads every member of the table: what the claims (or NULL) say, else what is plain. Lists lose
 * their repetitions. */
enum az_status register_members_read(struct register_reading *reading, const json_t *plain,
                                     const json_t *claims);

/* The failure of a member: its name, and a text that fits after it. */
enum az_status register_refuse(struct register_reading *reading, const char *name, const char *why);
enum az_status register_no_memory(struct register_reading *reading);

/* A member that is a text, NULL without it. */
const char *register_text(const struct register_reading *reading, const char *name);

#endif
