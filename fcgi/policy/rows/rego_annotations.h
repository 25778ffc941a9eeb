/* Annotations of Rego texts. */
#ifndef AZ_POLICY_ROWS_REGO_ANNOTATIONS_H
#define AZ_POLICY_ROWS_REGO_ANNOTATIONS_H

/*
 * Write the word that begins an annotation (METADATA) in small letters where it stands in a
 * comment; rows and columns stay. The engine that decides reads no annotations. Attack: a compiler
 * would, and a schema in one may name another by an address, which the compiler fetches from this
 * host.
 */
void rego_hide_annotations(char *text);

#endif
