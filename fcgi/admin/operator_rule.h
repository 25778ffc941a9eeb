/* Rules of operators about requests to the admin API: the hook custom.admin.deny
 * (gateway-admin.md 3.9). */
#ifndef AZ_ADMIN_OPERATOR_RULE_H
#define AZ_ADMIN_OPERATOR_RULE_H

#include "http/request.h"

/*
 * Ask policy about the request of a person, or of a key that is no owner's; the role was checked
 * before. An owner's key is never asked about, nor is authzctl on the database, so that no rule
 * locks everybody out. AZ_FORBIDDEN: a rule refuses it; the audit row has the question and the
 * answer. AZ_UNAVAILABLE: there is no decision.
 */
enum az_status operator_rule_check(struct request *req);

#endif
