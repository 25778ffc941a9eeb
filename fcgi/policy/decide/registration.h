/* svc/decision/register: may this client register, and as what. */
#ifndef AZ_POLICY_DECIDE_REGISTRATION_H
#define AZ_POLICY_DECIDE_REGISTRATION_H

#include "policy/decide/ask.h"

/* What is asked for, and by whom. Lists are arrays of strings. */
struct registration {
    struct question frame;   /* common part */
    json_t *redirect_uris;   /* never empty */
    json_t *grant_types;     /* never empty: a bound of the answer */
    json_t *response_types;  /* may be empty */
    json_t *scopes;          /* a bound of the answer; NULL: none were named */
    const char *auth_method; /* token_endpoint_auth_method */
    const char *client_name; /* or NULL */
    const char *software_id; /* of a statement whose signature was checked, or NULL */
    const char *issuer;      /* of the software statement; NULL: a plain registration */
    bool verified;           /* its signature was checked */
    json_t *claims;          /* its claims, or NULL */
};

/* The checked answer. */
struct registration_verdict {
    struct verdict verdict; /* allow, scopes, resource_types, reasons, revision, packed documents */
    json_t *grant_types;    /* of those asked for; never NULL, empty unless allowed */
};

/*
 * Asks once. AZ_OK with an answer, allow or deny; AZ_UNAVAILABLE when there is none that counts, as
 * ask_issue() has it, and for one that grants what was not asked for.
 */
enum az_status registration_ask(struct op *op, const struct registration *registration,
                                struct registration_verdict *ret);

/*
 * Why an answer registers nobody: the deny's outcome by its reasons (policy.md 6.5), or an allow
 * that grants none of what was asked. AZ_OK: it registers. *ret_text is the reason's message or
 * NULL.
 */
enum az_status registration_refusal(const struct registration *registration,
                                    const struct registration_verdict *verdict,
                                    const char **ret_text);

#endif
