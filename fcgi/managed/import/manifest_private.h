/* Declarations that the reader of manifests and the filling of their templates share. */
#ifndef AZ_MANAGED_MANIFEST_PRIVATE_H
#define AZ_MANAGED_MANIFEST_PRIVATE_H

#include "managed/import/manifest.h"

/* The variables of a template: the beginning of ${settings.x}, and the name of the resource. */
#define MANIFEST_SETTINGS "${settings."
#define MANIFEST_INPUT_NAME "${input.name}"

/* Octets of the path in a fault. */
#define MANIFEST_PATH_SHOWN 160

/* Return the name of the setting of a whole ${settings.x}, on mem, or NULL if it is not one. */
const char *manifest_setting_name(TALLOC_CTX *mem, const char *text);

/* True if a property of the settings is a secret. */
bool manifest_is_write_only(const json_t *property);

#endif
