/* Delegations: an owner of a UMA resource lets another person or client act on it (specification
 * 2.15). Here are the owner's writes and reads, and the part of a statement that finds what was
 * delegated to the subject and the client of a token. */
#ifndef AZ_STORE_UMA_DELEGATIONS_H
#define AZ_STORE_UMA_DELEGATIONS_H

#include <jansson.h>

#include "store/uma/owners.h"

/* Active delegations of one owner, and ended ones that the owner may still read: the oldest of
 * these go first. Together they bound the list of GET. */
#define DELEGATIONS_MAX 1000
#define DELEGATIONS_ENDED_MAX 1000

/* Days for which an owner can read a delegation that expired or was revoked. */
#define DELEGATION_KEPT_DAYS 30

/* Delegations of each kind that policy sees: to the client, to the subject, and of the stated
 * resource. With the limit on the scopes of one (SCOPE_TEXT_MAX) it bounds the policy input. */
#define DELEGATIONS_SHOWN "50"

#define DELEGATION_LIVE "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())"

/* Read the ids of delegations to one grantee, whom a condition between the two names. The grantors
 * take turns, each with its oldest delegation, so that a grantor with many delegations cannot hide
 * those of another. In a turn the oldest grantor is first, then the newest, the second oldest, and
 * so on: if there are more grantors than places, half of the places go to the oldest grantors, whom
 * no later one can displace, and half to the newest. */
#define DELEGATED_TURNS                                                                            \
    "SELECT id FROM (SELECT id, turn, row_number() OVER (PARTITION BY turn ORDER BY id) AS old,"   \
    "  row_number() OVER (PARTITION BY turn ORDER BY id DESC) AS new FROM (SELECT id,"             \
    "  row_number() OVER (PARTITION BY grantor_subject ORDER BY id) AS turn FROM delegation "      \
    "WHERE "
#define DELEGATED_TURNS_END                                                                        \
    " AND " DELEGATION_LIVE "  ) own) theirs ORDER BY turn, least(old, new), id"                   \
    " LIMIT " DELEGATIONS_SHOWN

/*
 * The active delegations to the client and to the subject of the token t, as JSON for the policy
 * input, or NULL. Those of the resource t.stated, which a resource server names, are looked up by
 * key: only the owner of a resource delegates it, so that delegations of other owners, however many
 * they are, never hide them. A scope that the owner no longer registers is not delegated any more.
 * The delegations of a disabled client do not count, nor those of a person whose identity provider
 * is disabled. Three scans of an index.
 */
#define DELEGATED_TO_TOKEN                                                                         \
    "(SELECT json_agg(json_strip_nulls(json_build_object('id', d.id, 'grantor',"                   \
    " json_build_object('client_id', o.client_id, 'subject', d.grantor_subject, 'registration',"   \
    " o.registration_type, 'software_id', o.software_id), 'grantee_type',"                         \
    " CASE WHEN d.grantee_client IS NULL THEN 'subject' ELSE 'client' END,"                        \
    " 'resource_id', d.resource, 'resource_type', r.type, 'scopes', ARRAY(SELECT s FROM"           \
    " unnest(d.scopes) s WHERE s = ANY (r.scopes)), 'expires_at', instant_text(d.expires_at)))"    \
    " ORDER BY d.id) FROM"                                                                         \
    " ((" DELEGATED_TURNS "grantee_client = t.client" DELEGATED_TURNS_END ")"                      \
    "  UNION (SELECT id FROM delegation WHERE resource = t.stated AND (grantee_client = t.client"  \
    "   OR grantee_subject = t.subject) AND " DELEGATION_LIVE                                      \
    "   ORDER BY id LIMIT " DELEGATIONS_SHOWN ")"                                                  \
    "  UNION (" DELEGATED_TURNS "grantee_subject = t.subject" DELEGATED_TURNS_END ")) shown"       \
    " JOIN delegation d ON d.id = shown.id"                                                        \
    " JOIN client o ON o.id = d.grantor_client AND o.enabled"                                      \
    " LEFT JOIN identity_provider p ON p.id = d.grantor_idp"                                       \
    " JOIN uma_resource r ON r.id = d.resource"                                                    \
    " WHERE d.grantor_idp IS NULL OR p.enabled)"

/* Read the same for a token that is not issued yet: the active delegations to a client and to a
 * subject, an array, or NULL. One trip. */
enum az_status delegations_of(struct op *op, int64_t client, const char *subject, json_t **ret);

/* A delegation to be stored. */
struct delegation {
    const unsigned char *resource; /* id of a UMA resource, UUID7_OCTETS */
    const char *grantee_subject;   /* or NULL */
    int64_t grantee_client;        /* client.id, or 0 */
    json_t *scopes;                /* array of strings, once each */
    int64_t expires_ms;            /* milliseconds since 1970, or 0: no end */
};

/* Outcomes of a new delegation. */
enum delegation_made {
    DELEGATION_MADE,       /* stored, with the audit row */
    DELEGATION_NO_THING,   /* the owner has no such resource */
    DELEGATION_BEYOND,     /* a scope is not registered for the resource */
    DELEGATION_NO_GRANTEE, /* there is no such client */
    DELEGATION_FULL,       /* the owner has DELEGATIONS_MAX active delegations */
    DELEGATION_NO_OWNER    /* the owner's client or identity provider was deleted a moment ago */
};

/* Store a delegation and the audit row, in one trip. */
enum az_status delegation_insert(struct op *op, const unsigned char id[UUID7_OCTETS],
                                 const struct uma_owner *owner, const struct delegation *delegation,
                                 const struct audit_entry *audit, enum delegation_made *ret);

/*
 * Change the end of an active delegation (0: keep it), or revoke one that is not revoked, and write
 * the audit row, in one trip. *ret, the delegation as stored, is NULL, or *ret_found false: the
 * owner has no such delegation, and nothing was written. The state of the row decides between
 * requests that come at the same moment, and nothing makes a revoked delegation active again.
 */
enum az_status delegation_set_end(struct op *op, const unsigned char id[UUID7_OCTETS],
                                  const struct uma_owner *owner, int64_t expires_ms,
                                  const struct audit_entry *audit, const char **ret);
enum az_status delegation_revoke(struct op *op, const unsigned char id[UUID7_OCTETS],
                                 const struct uma_owner *owner, const struct audit_entry *audit,
                                 bool *ret_found);

/* Read one delegation of the owner, or all, as JSON text; a single one is NULL if it does not
 * exist. */
enum az_status delegation_get(struct op *op, const unsigned char id[UUID7_OCTETS],
                              const struct uma_owner *owner, const char **ret);
enum az_status delegation_list(struct op *op, const struct uma_owner *owner, const char **ret);

/* Delete delegations that ended DELEGATION_KEPT_DAYS ago (housekeeping); adds to *removed. */
enum az_status delegations_purge(struct op *op, int64_t *removed);

#endif
