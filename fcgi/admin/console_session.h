/* /admin/session: sign-in to the console and out of it (gateway-admin.md 3.9). */
#ifndef AZ_ADMIN_CONSOLE_SESSION_H
#define AZ_ADMIN_CONSOLE_SESSION_H

#include "http/request.h"

/* Exchange the admin key of the request, or a one-time link of one, for a session with a new id;
 * the browser's previous session ends. Answer 204 with the cookie. In development mode there is no
 * key, so no session is made. */
enum az_status console_session_begin_handle(struct request *req);

/* Tell who asks: the key's id and label or the person, the role, and the times of the session.
 * Answer 200. */
enum az_status console_session_show_handle(struct request *req);

/* End the session. Answer 204; a request with a key has no session to end. */
enum az_status console_session_end_handle(struct request *req);

#endif
