/* The user of a token, read from the record of its issuance. Pure. */
#ifndef AZ_OAUTH_EXCHANGE_ISSUED_USER_H
#define AZ_OAUTH_EXCHANGE_ISSUED_USER_H

#include "policy/decide/question.h"
#include "store/tokens/tokens_find.h"

enum issued_subject {
    ISSUED_UNKNOWN, /* the record is gone, or names no type of subject */
    ISSUED_CLIENT,  /* any type but user */
    ISSUED_USER,
};

/* Return the type of the subject of an issuance, which is the policy input of that time, or NULL.
 */
enum issued_subject issued_subject(const json_t *issued);

/* Read the user from the issuance of a token. The claims come from the last sign-in, or else from
 * the issuance. The values belong to the row and the issuance. */
struct question_user issued_user(const struct token_row *row, const json_t *issued);

#endif
