/* Ids in paths of the admin API: decimal numbers of 64 bits. */
#ifndef AZ_ADMIN_PATH_ID_H
#define AZ_ADMIN_PATH_ID_H

#include <stdint.h>

#include "http/request.h"

/* Read the first {name} of the path. AZ_NOT_FOUND: not an id, so no row has it. */
enum az_status path_id_read(struct request *req, int64_t *ret);

#endif
