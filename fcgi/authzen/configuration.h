/* GET /.well-known/authzen-configuration: the metadata of the decision point (AuthZEN 1.0, 9). */
#ifndef AZ_AUTHZEN_CONFIGURATION_H
#define AZ_AUTHZEN_CONFIGURATION_H

#include "http/route.h"

/* Answer with the metadata of the policy decision point (AuthZEN 1.0, section 9). */
enum az_status authzen_configuration_handle(struct request *req);

#endif
