/* Secrets of clients: made, and sealed for the row of one client. */
#ifndef AZ_STORE_CLIENTS_CLIENT_SECRETS_H
#define AZ_STORE_CLIENTS_CLIENT_SECRETS_H

#include <stddef.h>

#include "base/op.h"

/* Make a secret of 256 bits, which is wiped when op->mem is freed. */
enum az_status client_secret_make(struct op *op, const char **ret);

/* Seal a secret for the row of a client_id; *ret lives on op->mem. */
enum az_status client_secret_seal(struct op *op, const char *client_id, const char *secret,
                                  const unsigned char **ret, size_t *ret_length);

#endif
