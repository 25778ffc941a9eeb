/* Names of tools as MCP clients see them, and the filter of tools (gateway-admin.md 1.5, 3.2). */
#ifndef AZ_MANAGED_NAMES_H
#define AZ_MANAGED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

struct managed_names;

/* Longest exposed name before SVC_GATEWAY_TOOL_NAME_MAX, in octets: clients refuse a whole
 * connector for one longer name, or for one with other characters than letters, digits, "_" and
 * "-". Prompts and imported routes have it; calls of tools by such a name are served. */
#define MANAGED_EXPOSED_MAX 64

/* True if a text can name a resource: lower-case letters, digits and hyphens, at most
 * MANAGED_NAME_MAX, no hyphen at an end, and not mcp, link or connect, which are paths. */
bool managed_name_is_good(const char *name);

/*
 * Return the exposed name of a tool: "resource__tool" (resource NULL: the tool alone) with "_" for
 * every other character; a name of more than `max` octets is cut and ends with "_" and six hex
 * digits of the SHA-256 of the whole. On mem, or NULL if out of memory.
 *
 * The names of two resources never collide: a resource's name has no "_", and is never cut.
 */
const char *managed_exposed_name(TALLOC_CTX *mem, size_t max, const char *resource,
                                 const char *tool);

/* Make both names; *ret is all NULL if out of memory. */
void managed_names_make(TALLOC_CTX *mem, size_t max, const char *resource, const char *tool,
                        struct managed_names *ret);

/* True if a call by one of the names of a tool could mean another tool. */
bool managed_names_clash(const struct managed_names *names, const struct managed_names *others);

/* True if a glob matches a text: "*" stands for any characters, "?" for one, all others for
 * themselves. */
bool managed_glob(const char *glob, const char *text);

/* True if toolFilter lets a name pass: no glob of `exclude` matches, and one of `include` does, if
 * there are any. Lists end with NULL and may be NULL. */
bool managed_filter(const char *const *include, const char *const *exclude, const char *name);

/* Names of the tools that stand for a long list of them (gateway-admin.md 1.10); a tool has
 * neither.
 */
#define MANAGED_FIND_TOOLS "authz_find_tools"
#define MANAGED_CALL_TOOL "authz_call_tool"

/* True if an exposed name is one of them. */
bool managed_exposed_name_is_reserved(const char *name);

#endif
