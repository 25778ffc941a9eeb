/* The answers about the gateway, read strictly: they can only narrow what was asked, and an
 * obligation that is not understood is a denial. */
#ifndef AZ_POLICY_DECIDE_GATEWAY_ANSWER_H
#define AZ_POLICY_DECIDE_GATEWAY_ANSWER_H

#include "policy/decide/gateway.h"

/* The part of the arguments that is stored with the decision
 * (svc.operator.controls.audit.argument_mode). */
enum gateway_arguments {
    GATEWAY_ARGUMENTS_KEYS, /* their names */
    GATEWAY_ARGUMENTS_FULL, /* all of them */
    GATEWAY_ARGUMENTS_NONE, /* nothing */
};

/* Members of `headers`, and pointers in `redact`: more than an operator writes down. */
#define GATEWAY_HEADERS_MAX 16
#define GATEWAY_POINTERS_MAX 64
/* Octets of the value of one such header. */
#define GATEWAY_HEADER_VALUE_MAX 1024

/* A fault of an answer: its member, or NULL, and what is wrong with it. */
struct gateway_fault {
    const char *member, *why;
};

/* Read the answer to one request, without its obligations. */
struct gateway_fault gateway_answer_check(const struct gateway_question *question,
                                          const struct decision *read, struct gateway_decision *ret,
                                          enum gateway_arguments *mode);

/* Read the obligations of the route, then those of policy, whose headers win. *ret_met is false if
 * one of them is unknown, malformed, or not among question->obligations. */
enum az_status gateway_answer_obligations(struct op *op, const struct gateway_question *question,
                                          json_t *obligations, struct gateway_obligations *ret,
                                          bool *ret_met);

/*
 * Return obligations as an object on mem, in one form for all that demand the same: redact (object
 * with the pointers as names), response_max_bytes, approve_by_ciba, headers. NULL: no memory.
 */
json_t *gateway_obligations_json(TALLOC_CTX *mem, const struct gateway_obligations *obligations);

/*
 * Return the obligations that an operation can meet, by the kind of its action and the type of its
 * upstream as a question names them. The text that an MCP server makes of a value cannot be
 * redacted, and a STATIC answer sends no request with header fields.
 */
unsigned gateway_obligations_of(const char *kind, const char *upstream_type);

/* Read the verdicts of an answer about `count` tools. */
struct gateway_fault gateway_answer_verdicts(const struct decision *read, size_t count,
                                             enum gateway_verdict *verdicts);

/*
 * Read the answer to one request from the verdict. AZ_UNAVAILABLE: a member has a wrong type or
 * widens the question; the verdict keeps what the audit row shows. An obligation that is unknown,
 * malformed, or not among question->obligations makes decision and verdict a denial, with the
 * reason obligation_unknown.
 */
enum az_status gateway_answer_read(struct op *op, const struct gateway_question *question,
                                   struct verdict *verdict, struct gateway_decision *decision,
                                   enum gateway_arguments *mode);

/* Read argument_mode of an answer, which a stored one has too. False: it is absent or not known. */
bool gateway_answer_mode(const json_t *output, enum gateway_arguments *ret);

/* Read the answer about tools. AZ_UNAVAILABLE: it does not have one known verdict for each. */
enum az_status gateway_answer_read_tools(struct op *op,
                                         const struct gateway_tools_question *question,
                                         struct verdict *verdict, enum gateway_verdict *verdicts);

#endif
