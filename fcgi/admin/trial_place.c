#include "config.h"

#include "admin/trial_place.h"

#include "http/shared.h"

/* Return the number of places of a pool of so many workers. */
static int
places_of(int workers)
{
    return workers > TRIAL_PLACE_WORKERS ? workers / TRIAL_PLACE_WORKERS : 1;
}

enum az_status
trial_place_take(struct request *req, struct trial_place *ret)
{
    const struct az *az = req->op.az;
    const int places = places_of(az->pool_workers);
    *ret = (struct trial_place){NULL};
    if (az->shared == NULL)
        return AZ_OK;
    if (!shared_place_take(az->shared, SHARED_TRIAL, places))
        return op_fail(&req->op, AZ_UNAVAILABLE, "Other trials of policy are under way; try again",
                       "all %d places for trials of the pool are taken", places);
    ret->shared = az->shared;
    return AZ_OK;
}

void
trial_place_drop(struct trial_place *place)
{
    if (place->shared != NULL)
        shared_place_drop(place->shared, SHARED_TRIAL);
    place->shared = NULL;
}
