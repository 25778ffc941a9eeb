/* svc/decision/register: may this client register, and with which grant types and scopes. */
#ifndef AZ_POLICY_DECIDE_REGISTRATION_H
#define AZ_POLICY_DECIDE_REGISTRATION_H

#include "policy/decide/ask.h"

/* The requested registration. Lists are arrays of strings. */
struct registration {
    struct question frame;   /* common part */
    json_t *redirect_uris;   /* to which browsers may be sent, also after a logout; never empty */
    json_t *grant_types;     /* never empty; a bound of the answer */
    json_t *response_types;  /* may be empty */
    json_t *scopes;          /* a bound of the answer; NULL if none were requested */
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
    json_t *grant_types; /* those of the requested ones that are granted; never NULL, empty unless
                            allowed */
};

/* Return the bounds of an answer. */
struct decision_bounds registration_bounds(const struct registration *registration);

/* Read the grant types of a decision, empty unless it allows. *ret_fault: what is wrong with the
 * member, or NULL. */
enum az_status registration_grants(struct op *op, const struct registration *registration,
                                   const struct decision *decision, json_t **ret,
                                   const char **ret_fault);

/* Ask once. AZ_OK with an answer, allow or deny. AZ_UNAVAILABLE: there is no valid answer, as in
 * ask_issue(), or it grants a grant type that was not requested. */
enum az_status registration_ask(struct op *op, const struct registration *registration,
                                struct registration_verdict *ret);

/*
 * Return the status of an answer: AZ_OK if the client may be registered; otherwise the status of
 * the deny by its reasons (policy.md 6.5), or of an allow that grants none of what was requested.
 * *ret_text is the reason's message or NULL.
 */
enum az_status registration_refusal(const struct registration *registration,
                                    const struct registration_verdict *verdict,
                                    const char **ret_text);

#endif
