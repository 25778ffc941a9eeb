/* Places for trials of policy that people ask for (policy.md 7.3 T9). Each keeps a worker of the
 * pool that serves sign-ins too, and processes of its own, busy for seconds, and any key of an
 * auditor may ask for many at once. */
#ifndef AZ_ADMIN_TRIAL_PLACE_H
#define AZ_ADMIN_TRIAL_PLACE_H

#include "http/request.h"

/* One worker in so many of a pool may hold a place, and one at least: three quarters stay for
 * sign-ins, of which half may wait for other servers (http/fetch/fetch_places.h). Workers that the
 * web server spawns, whose number is not known, share one place. */
#define TRIAL_PLACE_WORKERS 4

/* A place; the kernel frees it when the process ends, however it ends. */
struct trial_place {
    struct shared *shared; /* that counts the place, or NULL */
};

/* TRIAL_PLACE_AUTO name; declares a place that is given back when its scope is left. */
#define TRIAL_PLACE_AUTO __attribute__((cleanup(trial_place_drop))) struct trial_place

/* Take a place. AZ_UNAVAILABLE: all are taken. */
enum az_status trial_place_take(struct request *req, struct trial_place *ret);

/* Give it back. Does nothing for {NULL}. */
void trial_place_drop(struct trial_place *place);

#endif
