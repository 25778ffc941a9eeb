/* Names of parameters as frameworks read them (gateway-admin.md 3.2 "Parameters"). */
#ifndef AZ_GATEWAY_PARAMETER_NAME_H
#define AZ_GATEWAY_PARAMETER_NAME_H

#include <stdbool.h>
#include <talloc.h>

/*
 * Return a name without what frameworks take off it, on mem, or NULL if out of memory: blanks at
 * its ends, forms of an index ("a[]", "a[0]"), and the brackets with which it begins ("[a]").
 */
char *parameter_name_plain(TALLOC_CTX *mem, const char *name);

/*
 * True if a framework may take two plain names for one: they differ by the case of letters
 * (ASP.NET), or by a blank, a dot or an open bracket in place of an underscore (PHP), or one of
 * them is a member of the other ("a" and "a[b]") or goes on behind a closed bracket ("a[b]" and
 * "a[b]c", PHP). Two members of one name are two.
 */
bool parameter_name_is_same(const char *a, const char *b);

#endif
