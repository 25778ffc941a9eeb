/* The software statements that this service issued, as their clients hold them. */
#ifndef AZ_STORE_CLIENTS_CLIENTS_STATEMENT_H
#define AZ_STORE_CLIENTS_CLIENTS_STATEMENT_H

#include "base/op.h"

/* State of the client that a statement was issued for. */
enum statement_holder {
    STATEMENT_HOLDER_HAS_IT,   /* it is enabled, and this is its statement */
    STATEMENT_HOLDER_DISABLED, /* the administrator disabled it */
    STATEMENT_HOLDER_REPLACED, /* it has another statement, or none */
    STATEMENT_HOLDER_GONE,     /* there is no client of that name */
};

/* Return a text for the log that follows the name of the client. */
const char *statement_holder_text(enum statement_holder holder);

/* Read if a client holds exactly this statement, compared octet by octet. One trip. */
enum az_status client_holds_statement(struct op *op, const char *client_id, const char *statement,
                                      enum statement_holder *ret);

#endif
