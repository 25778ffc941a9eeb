/* svc/decision/gateway and gateway_tools: may a caller make this request to a managed resource, and
 * which tools may it see (gateway-admin.md 3.8). */
#ifndef AZ_POLICY_DECIDE_GATEWAY_H
#define AZ_POLICY_DECIDE_GATEWAY_H

#include "policy/decide/ask.h"

/* The endpoint of questions of web servers, for policy: the same for all forms of the question. */
#define GATEWAY_CHECK_ENDPOINT "/auth/check"

/* Octets of the arguments that policy gets, as JSON text: half of a stored question
 * (PACK_TEXT_MAX). Arguments that have more are left out, and `truncated` is set, which the shipped
 * policy denies (gateway-admin.md 3.8). */
#define GATEWAY_ARGUMENTS_MAX (512 << 10)
/* Octets of the names of arguments in an audit row, as JSON text. Names that have more are left out
 * of the row, and `truncated` is set there: a caller must not fill the audit log with names. */
#define GATEWAY_NAMES_MAX (16 << 10)
/* Tools of one question, which is a document of at most PACK_TEXT_MAX. Of more, each pair of a
 * resource and scopes is asked about once: so many pairs. */
#define GATEWAY_TOOLS_MAX 2000

/* Longest time for which policy may let a web server keep an answer, in seconds: a token that was
 * revoked is of use for that long. */
#define GATEWAY_CACHE_SECONDS_MAX 30

/* A managed resource, as policy sees it. NULL members are left out of the document. */
struct gateway_target {
    const char *name;          /* its name in paths */
    const char *type;          /* resource_type, or NULL */
    const char *upstream_type; /* REST, MCP or STATIC */
    const char *connector_id;  /* or NULL */
    json_t *implies;           /* object: arrays of the scopes that each scope implies; or NULL */
    const char *status;        /* word of its status */
    const bool *linked;        /* the person's account is linked; NULL: no account is needed */
    /* Header field of the upstream's credential, which no obligation may replace; or NULL. It is no
     * part of the document. */
    const char *credential_header;
};

/* One operation of a resource. NULL members are left out of the document. */
struct gateway_action {
    const char *kind; /* "http", "tool", "resource", "prompt" or "completion"; of a question of an
                         upstream: "elicitation", "sampling" or "roots" */
    const char *name; /* action of the route, name of the tool or prompt within its resource, URI or
                         template of an MCP resource; form of a question */
    const char *route;    /* id of the route; NULL: a tool of an MCP upstream */
    const char *method;   /* HTTP method of the request to the upstream, or NULL */
    const char *path;     /* its path, or NULL */
    const char *uri;      /* of an MCP resource, or NULL */
    const char *template; /* URI template of MCP resources, or NULL */
    json_t *annotations;  /* object, or NULL */
    json_t *scopes;       /* array: the scopes that it needs; never NULL */
};

/* The token and its holder: the common part of both questions. */
struct gateway_holder {
    struct question frame;   /* common part; its client is the token's */
    json_t *subject;         /* member `subject` of the issuance, or NULL */
    json_t *act;             /* the act claim of the token, or NULL */
    json_t *scopes;          /* array: what evaluation 2 grants now; never NULL */
    const char *resource;    /* that the token names */
    int64_t issued_at;       /* seconds since 1970 */
    int64_t expires_at;      /* seconds since 1970 */
    bool bound;              /* to a DPoP key */
    json_t *baseline;        /* pdpOutput of the issuance, or NULL */
    const char *mcp_version; /* protocol revision of the request, or NULL: no MCP */
    const char *mcp_method;  /* method of the JSON-RPC request, or NULL */
};

/* One request. */
struct gateway_question {
    struct gateway_holder holder;
    struct gateway_target resource;
    struct gateway_action action;
    json_t *arguments; /* object: of the tool, or {"path":{...},"query":{...}}, or NULL */
    json_t *answers;   /* object: of the person or client to the upstream's questions, or NULL */
    const struct gateway_action *call; /* of a question of an upstream: what it is asked for */
    json_t *always;       /* object: obligations of the route, beside those of policy, or NULL */
    unsigned obligations; /* those that the asker can meet: bits of enum gateway_obligation */
};

/* A tool in the question about all of them. */
struct gateway_tool {
    size_t resource;              /* its place among the resources */
    struct gateway_action action; /* kind "tool", or "resource" or "prompt" in the lists of those */
};

struct gateway_tools_question {
    struct gateway_holder holder;
    const struct gateway_target *resources;
    size_t resource_count;
    const struct gateway_tool *tools;
    size_t tool_count;
    const char *revision; /* out: of the policy that answered, or NULL */
};

/* The demands that a rule can make of the gateway beside allowing a request. One that the gateway
 * does not know, or that the asker cannot meet, makes a denial. */
enum gateway_obligation {
    GATEWAY_REDACT = 1 << 0,             /* redact */
    GATEWAY_RESPONSE_MAX_BYTES = 1 << 1, /* response_max_bytes */
    GATEWAY_APPROVE_BY_CIBA = 1 << 2,    /* approve_by_ciba */
    GATEWAY_HEADERS = 1 << 3,            /* headers */
};

/* The obligations of an answer. */
struct gateway_obligations {
    json_t *redact;             /* array of JSON Pointers (RFC 6901) below /body */
    int64_t response_max_bytes; /* octets of the upstream's answer; 0: no limit */
    bool approve_by_ciba;       /* the person approves the call first */
    json_t *headers;            /* object of texts: header fields to send to the upstream */
};

/* The checked answer to one request. */
struct gateway_decision {
    bool allow;      /* strictly boolean, and every obligation can be met */
    json_t *step_up; /* array of the missing scopes, all of which are the action's; NULL: this is
                      * no case for a new authorization */
    json_t *reasons; /* array, sorted; never NULL */
    const char *revision; /* of the policy that answered, or NULL */
    /* Seconds for which whoever asked may keep the answer: 0 to GATEWAY_CACHE_SECONDS_MAX. */
    int64_t cache_seconds;
    struct gateway_obligations obligations; /* set if `allow`, and then never NULL */
};

/*
 * Ask once about one request. AZ_OK with an answer. AZ_UNAVAILABLE: there is no valid answer, as in
 * ask_issue(); the answer to the caller is AZ_POLICY_UNAVAILABLE. The stored question in *ret holds
 * the names of the arguments alone, unless the answer says argument_mode "full".
 */
enum az_status gateway_ask(struct op *op, const struct gateway_question *question,
                           struct gateway_decision *decision, struct verdict *ret);

/*
 * Return what a stored question lacks of the one that was asked, by the stored decision: JSON
 * Pointers of the values that were left out, as an array owned by mem; empty for a whole question.
 * NULL: no memory.
 */
json_t *gateway_not_stored(TALLOC_CTX *mem, const json_t *input, const json_t *decision);

/* A verdict on one tool of a list. */
enum gateway_verdict {
    GATEWAY_DENY,    /* not shown */
    GATEWAY_STEP_UP, /* shown; a call needs more scopes */
    GATEWAY_ALLOW,   /* shown */
};

/* Ask once about all tools. `verdicts` has room for question->tool_count. AZ_UNAVAILABLE: as above,
 * or the answer does not have one verdict for each tool. AZ_SERVER_ERROR also if there are more
 * than GATEWAY_TOOLS_MAX, and as many pairs of a resource and scopes, or rules about single tools.
 */
enum az_status gateway_tools_ask(struct op *op, const struct gateway_tools_question *question,
                                 enum gateway_verdict *verdicts, struct verdict *ret);

#endif
