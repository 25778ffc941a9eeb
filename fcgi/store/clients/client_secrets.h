/* Secrets of clients: made here, and sealed for the row of one client. */
#ifndef AZ_STORE_CLIENTS_CLIENT_SECRETS_H
#define AZ_STORE_CLIENTS_CLIENT_SECRETS_H

#include <stddef.h>

#include "base/op.h"

/* A fresh secret of 256 bits; wiped when op->mem is freed. */
enum az_status client_secret_make(struct op *op, const char **ret);

/* The secret sealed for the row of a client_id; *ret lives on op->mem. */
enum az_status client_secret_seal(struct op *op, const char *client_id, const char *secret,
                                  const unsigned char **ret, size_t *ret_length);

#endif
