/* Consents that are remembered and browser sessions, for operators: list and end (ours; oauth.md 5
 * "Consent"). */
#ifndef AZ_ADMIN_CONSENTS_H
#define AZ_ADMIN_CONSENTS_H

#include "http/route.h"

/* Parameters of the lists. */
extern const struct route_param consents_params[];
extern const struct route_param sessions_params[];

/* GET /admin/api/consents?subjectId&clientId, DELETE /admin/api/consents/{id}. */
enum az_status consents_list_handle(struct request *req);
enum az_status consent_delete_handle(struct request *req);

/* GET /admin/api/sessions?subjectId, DELETE /admin/api/sessions/{sid}. */
enum az_status sessions_list_handle(struct request *req);
enum az_status session_delete_handle(struct request *req);

#endif
