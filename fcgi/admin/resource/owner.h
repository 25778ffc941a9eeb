/* The owner of an object that a request writes (doc/design/instance.md F5). */
#ifndef AZ_ADMIN_OWNER_H
#define AZ_ADMIN_OWNER_H

#include "http/route.h"

/* The parameter `owner`, for routes that write objects. */
extern const struct route_param resource_owner_params[];
#define RESOURCE_OWNER_PARAM                                                                       \
    {                                                                                              \
        .name = "owner", .help = "Mark the object in the same transaction: the owner of "          \
                                 "instance.json. 409 if it belongs to another owner"               \
    }

/* Read the parameter of the query; *ret is NULL without it. */
enum az_status resource_owner_read(struct request *req, const char **ret);

#endif
