/*
 * Remembered consents and browser sessions: operators list and end them (oauth.md 5).
 *
 *   GET /admin/api/consents?subjectId&clientId, DELETE /admin/api/consents/{id}
 *   GET /admin/api/sessions?subjectId,          DELETE /admin/api/sessions/{sid}
 */
#ifndef AZ_ADMIN_CONSENTS_H
#define AZ_ADMIN_CONSENTS_H

#include "admin/resource/resource.h"

extern const struct route_param consents_params[];
extern const struct admin_resource consents_resource;

extern const struct route_param sessions_params[];
extern const struct admin_resource sessions_resource;

#endif
