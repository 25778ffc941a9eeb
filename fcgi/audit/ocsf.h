/* Audit rows as events of the Open Cybersecurity Schema Framework 1.3.0 (schema.ocsf.io). */
#ifndef AZ_AUDIT_OCSF_H
#define AZ_AUDIT_OCSF_H

#include "audit/event.h"

/* Return an event as JSON text without a line feed, on its memory; NULL: out of memory. */
char *ocsf_event_text(const struct audit_event *event);

#endif
