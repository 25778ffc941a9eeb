/*
 * Keep the policy's verdicts on the tools of an endpoint in a worker, for the next list with the
 * same token (gateway-admin.md 1.5). A list may be late by VERDICTS_SECONDS; a call is always
 * decided.
 */
#ifndef AZ_GATEWAY_MCP_TOOLS_VERDICT_MEMORY_H
#define AZ_GATEWAY_MCP_TOOLS_VERDICT_MEMORY_H

#include "crypto/digest.h"
#include "gateway/mcp/tools/catalogue.h"

/* Seconds for which verdicts are kept: those for which a client may keep the list. */
#define VERDICTS_SECONDS 30
/* Lists of one worker; each has an octet for a tool. A new one replaces the oldest one. */
#define VERDICTS_ENTRIES 64

/* The question of a list, as a hash of what its verdicts follow from: the token and what is granted
 * of it, endpoint, caller and method, and each resource with its version, status and link. */
struct verdict_key {
    char sha256[SHA256_HEX_SIZE];
};

/* Make the key; `linked` has a member for each resource of the catalogue. */
enum az_status verdict_key_make(const struct mcp_exchange *it,
                                const struct mcp_catalogue *catalogue, const bool *linked,
                                struct verdict_key *ret);

/* Find the verdicts of a key, one for each tool of the catalogue, if the policy that gave them may
 * decide now. Return the id of the request that asked, on the memory of the operation; NULL: policy
 * must be asked. */
const char *verdicts_find(const struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
                          const struct verdict_key *key, enum gateway_verdict *ret);

/* Keep the verdicts that a revision of the policy gave to this request. Without memory they are not
 * kept. */
void verdicts_keep(const struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
                   const struct verdict_key *key, const char *revision,
                   const enum gateway_verdict *verdicts);

#endif
