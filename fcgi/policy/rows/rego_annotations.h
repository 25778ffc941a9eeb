/* Annotations of Rego texts. */
#ifndef AZ_POLICY_ROWS_REGO_ANNOTATIONS_H
#define AZ_POLICY_ROWS_REGO_ANNOTATIONS_H

#include <talloc.h>

/*
 * Return a copy of a text, on mem, in which the word that begins an annotation (METADATA) is in
 * small letters where it stands in a comment; rows and columns stay. NULL: out of memory. The
 * engine that decides reads no annotations. Attack: a compiler would, and a schema in one may name
 * another by an address, which the compiler fetches from this host.
 */
char *rego_without_annotations(TALLOC_CTX *mem, const char *text);

#endif
