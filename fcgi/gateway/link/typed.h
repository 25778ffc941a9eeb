/* Secrets that a person types: managed resources of type user_secret (gateway-admin.md 3.5). */
#ifndef AZ_GATEWAY_LINK_TYPED_H
#define AZ_GATEWAY_LINK_TYPED_H

#include "gateway/link/visit.h"

/*
 * Try a secret: its form, and the configured request to the upstream, if there is one. *ret_fault
 * becomes secret_missing, secret_malformed or secret_refused, or NULL if the secret is good.
 * AZ_UPSTREAM_UNREACHABLE, AZ_UPSTREAM_TIMEOUT or AZ_UPSTREAM_INVALID if the upstream gave no
 * usable answer.
 */
enum az_status link_typed_try(struct request *req, const struct link_visit *visit,
                              const char *secret, const char **ret_fault);

/* Store it as the connection of the person. */
enum az_status link_typed_store(struct request *req, const struct link_visit *visit,
                                const char *secret);

#endif
