/*
 * Sessions of clients before MCP 2026-07-28 (MCP 2025-11-25, transports, "Session Management";
 * gateway-admin.md 1.13). What a session is stands in its id, sealed, so that opening one stores
 * nothing:
 *
 *   s1.<base64url of a box (crypto/seal.h)>
 */
#ifndef AZ_GATEWAY_MCP_MESSAGE_SESSION_ID_H
#define AZ_GATEWAY_MCP_MESSAGE_SESSION_ID_H

#include <jansson.h>
#include <stdbool.h>

#include "gateway/door.h"
#include "store/gateway/sessions.h"

/* The header field, as it is sent and as CGI names it. */
#define MCP_SESSION_FIELD "Mcp-Session-Id"
#define MCP_SESSION_VARIABLE "HTTP_MCP_SESSION_ID"

/* Seconds that a session lives: a working day with a machine that sleeps over night. */
#define MCP_SESSION_SECONDS 86400

struct mcp_session {
    bool named; /* the request names a session */
    bool opens; /* this service made its id, from which the following members come */
    struct gateway_session key;
    const char *at;       /* name of the resource whose endpoint it is of, or NULL */
    const char *version;  /* revision that was agreed, a constant */
    json_t *capabilities; /* object: the client's capabilities that questions need */
    struct db_step *step; /* of the trip that reads its row, or NULL */
    struct gateway_session_row row;
};

/* Read the session that a request names. */
enum az_status mcp_session_read(struct request *req, struct mcp_session *ret);

/* Return what reads the row of a session in the trip of the token; `session` must outlive it. */
struct gateway_rows mcp_session_rows(struct mcp_session *session);

/* True if a session that was read is one of this caller at this endpoint, and goes on. */
bool mcp_session_stands(struct op *op, const struct mcp_session *session,
                        const struct gateway_access *access);

/* Return the id of a new session of the caller: for a client with these capabilities (or NULL),
 * which follows this revision. On op->mem; NULL: no memory or randomness. */
const char *mcp_session_make(struct op *op, const struct gateway_access *access,
                             const json_t *capabilities, const char *version);

#endif
