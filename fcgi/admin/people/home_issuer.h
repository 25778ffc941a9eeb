/* The home issuer over the admin API: whose people keep their sub as their name (token/subject.h).
 */
#ifndef AZ_ADMIN_PEOPLE_HOME_ISSUER_H
#define AZ_ADMIN_PEOPLE_HOME_ISSUER_H

#include "base/json/fields.h"
#include "http/route.h"

/* Body of the PUT: {idpId}. */
extern const struct field_table home_issuer_table;

/* Tell the home issuer, its provider, and what decides about it. */
enum az_status home_issuer_get_handle(struct request *req);

/*
 * Make the issuer of an enabled provider the home issuer, and tell what follows. No name that a
 * person has changes. AZ_CONFLICT: SVC_SUBJECT_HOME_ISSUER is set, which wins. AZ_NOT_FOUND: there
 * is no enabled provider with this idpId.
 */
enum az_status home_issuer_put_handle(struct request *req);

#endif
