/* Names of files and keys of objects (F2): octets of a key beyond A-Z a-z 0-9 . _ - are escaped as
 * %XX in the name of its file. */
#ifndef AZ_CLI_INSTANCE_NAMES_H
#define AZ_CLI_INSTANCE_NAMES_H

#include <talloc.h>

/* End of the names of files of objects. */
#define INSTANCE_SUFFIX ".json"

/* Return the path of the file of an object, on mem; NULL: no memory. */
char *instance_file_of(TALLOC_CTX *mem, const char *folder, const char *key);

/* Return the key of the object of a file below `folder` that ends in .json, on mem. NULL: the name
 * is none that instance_file_of() gives. */
char *instance_key_of(TALLOC_CTX *mem, const char *folder, const char *path);

#endif
