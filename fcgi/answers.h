/* The members of the answers that no table reads, for the description of the interface. A test
 * holds every answer of the HTTP tests against them. */
#ifndef AZ_ANSWERS_H
#define AZ_ANSWERS_H

#include "base/json/fields.h"

extern const struct field_table answer_metadata;        /* RFC 8414 section 2 */
extern const struct field_table answer_key_set;         /* RFC 7517 section 5 */
extern const struct field_table answer_token;           /* specification 2.12 */
extern const struct field_table answer_auth_request;    /* specification 4.3 */
extern const struct field_table answer_introspection;   /* specification 2.13 */
extern const struct field_table answer_registration;    /* RFC 7591 section 3.2.1 */
extern const struct field_table answer_userinfo;        /* OpenID Connect Core 5.3.2 */
extern const struct field_table answer_decision_point;  /* AuthZEN 1.0, 9 */
extern const struct field_table answer_decision;        /* specification 4.11 */
extern const struct field_table answer_decisions;       /* AuthZEN 1.0, 7.2 */
extern const struct field_table answer_uma_id;          /* of a UMA resource, specification 4.9 */
extern const struct field_table answer_ticket;          /* specification 2.14 */
extern const struct field_table answer_delegation_id;   /* specification 2.15 */
extern const struct field_table answer_delegation;      /* oauth.md "Delegation object" */
extern const struct field_table answer_console_session; /* gateway-admin.md 3.9 */
extern const struct field_table answer_console_link;    /* the same */
extern const struct field_table answer_new_admin_key;   /* the same with the key */
extern const struct field_table answer_plaintext;       /* {key} */
extern const struct field_table answer_audit_row;       /* specification 2.7 */
extern const struct field_table answer_audit_page;      /* the same */
extern const struct field_table answer_audit_search;    /* gateway-admin.md 3.6 */
extern const struct field_table answer_audit_export;    /* decisions.md "Audit export" */
extern const struct field_table answer_governance;      /* gateway-admin.md 3.6 */
extern const struct field_table answer_token_facts; /* decisions.md "Tokens over the admin API" */
extern const struct field_table answer_fence;       /* doc/backup.md */
extern const struct field_table answer_key;         /* a signing key */
extern const struct field_table answer_token_page;  /* the same */
extern const struct field_table answer_sync;        /* specification 2.9 */
extern const struct field_table answer_probe;       /* gateway-admin.md 3.6 */
extern const struct field_table answer_rotation;    /* oauth.md 5 */
extern const struct field_table answer_control;     /* specification 4.12 */
extern const struct field_table answer_evaluation;  /* of try-it, and of a replay */
extern const struct field_table answer_deploy;      /* specification 2.6 */
extern const struct field_table answer_impact;      /* policy.md I12 */
extern const struct field_table answer_bundle;      /* BundleAuditLogDto, the same */
extern const struct field_table answer_home_issuer; /* whose people keep their sub */
extern const struct field_table answer_protected_resource; /* RFC 9728 section 2 */
extern const struct field_table answer_bundle_content;     /* rows of a bundle */
extern const struct field_table answer_bundle_difference;  /* of two bundles */
extern const struct field_table answer_health;             /* gateway-admin.md 7.1 */
extern const struct field_table answer_readiness;          /* the same */

/* The answer of POST /admin/api/object-owners/secrets. */
extern const struct field_table answer_same_secrets;

#endif
