/* Functions that the files which read settings share. */
#ifndef AZ_BASE_SETTINGS_SETTINGS_PRIVATE_H
#define AZ_BASE_SETTINGS_SETTINGS_PRIVATE_H

#include "base/settings/settings.h"

/* Longest line of authz.conf, and longest value in a file of its own, in octets. */
#define LINE_MAXIMUM 4094

/* Set one value and its origin; add a problem that names the origin if the text is not valid. */
void settings_set(TALLOC_CTX *mem, struct settings *cfg, const struct setting *row,
                  const char *text, const char *origin, struct problems *problems);

/* Return the row whose value a setting NAME_FILE names the file of, or NULL if there is none. */
const struct setting *settings_find_file(const char *name);

/* Set a value to the text of the file `path`, without a final line break. `name` is NAME_FILE, and
 * `origin` is where it stands. Add a problem if the file cannot be read or is not one line. */
void settings_set_file(TALLOC_CTX *mem, struct settings *cfg, const char *name, const char *path,
                       const char *origin, struct problems *problems);

/* True if no other account can change the open file, or read it if `secret`, or if
 * SVC_ALLOW_SHARED_SETTINGS allows that; else add a problem that begins with `from`. */
bool settings_file_is_fit(TALLOC_CTX *mem, const char *from, const char *path, int fd, bool secret,
                          struct problems *problems);

#endif
