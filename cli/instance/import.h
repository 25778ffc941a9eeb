/* Import from other servers (F8): objects in the form of the files, and a list of each member of
 * the source that says what became of it. */
#ifndef AZ_CLI_INSTANCE_IMPORT_H
#define AZ_CLI_INSTANCE_IMPORT_H

#include "cli/instance/instance.h"

/* One import. */
struct import {
    struct cli *cli;
    json_t *files;       /* path to value */
    json_t *bindings;    /* payload of svc.entitlements.bindings */
    json_t *lines;       /* texts of the report */
    size_t mapped, told; /* members */
    bool lost;           /* memory ran out */
};

/* A member of the source and what becomes of it. */
struct import_member {
    const char *name; /* in the source; a * in it stands for any text */
    const char *to;   /* member here that it is copied to, or NULL */
    const char *note; /* what became of it, for the report */
    bool mapped;      /* it has an effect here, or the one it had is the only one here */
};

/* Note what became of a member. */
void import_note(struct import *import, const char *of, const char *member, bool mapped,
                 const char *note);

/* Note each member of an object by the table (ended by a row without name), and copy those that
 * have a member here into `to`. A member that no row names is told as not known. */
void import_members(struct import *import, const char *of, const json_t *from,
                    const struct import_member *rows, json_t *to);

/* Begin a part of the report. */
void import_heading(struct import *import, const char *text);

/* True if an object has a key, which the source has in `member`: an object without a key can have
 * no file, so the report says that it is left out. */
bool import_has_key(struct import *import, const char *kind, const char *member, const char *key);

/* Add the file of an object. */
void import_file(struct import *import, const char *kind, const char *key, json_t *object);

/* Add a word to a list of the binding of a client. */
void import_right(struct import *import, const char *client, const char *list, const char *word);

/* Append a word to a list of an object, once. */
void import_word(struct import *import, json_t *object, const char *member, const char *word);

/* Read a document of one server into the import. False: it is not what the server exports. */
bool import_keycloak(struct import *import, const json_t *document);
bool import_hydra(struct import *import, const json_t *document);

#endif
