/* The extension types of Cedar: texts of their values, and arithmetic. */
#ifndef AZ_CEDAR_EXTENSION_H
#define AZ_CEDAR_EXTENSION_H

#include "cedar/value.h"

/* Milliseconds. */
#define CEDAR_DAY 86400000

/* Parse the text of a value. False: it is not one. */
bool cedar_read_ip(struct cedar_text text, struct cedar_value *ret);
bool cedar_read_decimal(struct cedar_text text, struct cedar_value *ret);
bool cedar_read_datetime(struct cedar_text text, struct cedar_value *ret);
bool cedar_read_duration(struct cedar_text text, struct cedar_value *ret);

/* Set all bits behind the prefix to 0 (first address of the range) or to 1 (last one). */
struct cedar_ip cedar_ip_edge(const struct cedar_ip *ip, bool last);

/* True if all addresses of `inner` are addresses of `outer`. */
bool cedar_ip_within(const struct cedar_ip *inner, const struct cedar_ip *outer);

#endif
