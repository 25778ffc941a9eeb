/* The subject token of a token exchange (RFC 8693 2.1), and what it allows. */
#ifndef AZ_OAUTH_EXCHANGE_EXCHANGE_SUBJECT_H
#define AZ_OAUTH_EXCHANGE_EXCHANGE_SUBJECT_H

#include "http/route.h"
#include "policy/decide/question.h"

/* The contents of a subject token. Values live as long as the operation; NULL: it does not say. */
struct exchange_subject {
    const char *name;          /* subject of the new token */
    bool is_user;              /* it is a user, whom `user` describes; else a client */
    struct question_user user; /* sign-in of the user */
    const char *issuer;        /* issuer of the token; NULL: this service */
    const char *client_id;     /* client that an access token was issued to */
    /* An access token is a ceiling in each of these. An ID token is not: its fields are NULL, and
     * the ceiling is what the client itself may have. */
    bool ceiling;
    json_t *scopes;              /* array */
    const char *resource;        /* RFC 8707 */
    json_t *resource_types;      /* array */
    json_t *details;             /* RFC 9396 array */
    json_t *act;                 /* act claim, as in the token */
    json_t *may_act;             /* may_act claim (RFC 8693 4.4), object */
    json_t *claims;              /* further claims for policy, object */
    const char *jkt;             /* thumbprint of the key that it is bound to */
    int64_t expires_at;          /* seconds since 1970 */
    const unsigned char *family; /* family, of UUID7_OCTETS */
    int64_t provider;            /* row of the identity provider of the user, or 0 */
    const char *flow_id;         /* of the request that led to it */
};

/*
 * Read an access token of this service. AZ_INVALID_REQUEST (RFC 8693 2.2.2) with one text whatever
 * the reason, which the operator gets: it is unknown, expired, revoked, a single-use token, or
 * policy shows it to no caller now.
 */
enum az_status exchange_read_access_token(struct request *req, const char *text,
                                          struct exchange_subject *ret);

/*
 * Read an ID token of an issuer that the trust row lists. The issuer is judged before anything is
 * fetched. The person is stored at first sight. AZ_INVALID_GRANT with the descriptions of
 * specification 7.1.
 */
enum az_status exchange_read_id_token(struct request *req, const char *text,
                                      struct exchange_subject *ret);

#endif
