/* The state of reading one document; shared by the files that read its parts. */
#ifndef AZ_MANAGED_READER_H
#define AZ_MANAGED_READER_H

#include "managed/auth.h"
#include "managed/document.h"
#include "managed/names.h"

/* Limits of a document, each far above what a resource has. */
#define MANAGED_ROUTES_MAX 500
#define MANAGED_TOOLS_MAX 1000
#define MANAGED_HEADERS_MAX 32
#define MANAGED_PUBLIC_URLS_MAX 16
#define MANAGED_URL_HOSTS_MAX 16
#define MANAGED_ORIGINS_MAX 50    /* of cors */
#define MANAGED_CORS_AGE_MAX 7200 /* seconds; Chromium keeps no preflight longer */
#define MANAGED_SCOPES_MAX 32
#define MANAGED_NAMES_MAX 100  /* of a list of names */
#define MANAGED_MEMBERS_MAX 32 /* of an object with free members */
#define MANAGED_WORD_MAX 128   /* code points of an id or name */
#define MANAGED_TEXT_MAX 8192  /* code points of a description: what models read */
#define MANAGED_HEADER_VALUE_MAX 1024
#define MANAGED_ICON_MAX 16384 /* of any text of an icon: all of them together have no more */

struct reader {
    const struct managed_reading *reading;
    TALLOC_CTX *mem;
    struct managed_resource *resource; /* that is being read */
    const char *at; /* prefix of the path in faults: "routes[2].", or "" for the document */
    bool faulty;    /* a fault was told */
    bool lost;      /* memory ran out */
    struct managed_left_out *part; /* of a stored document: what a fault leaves out; NULL: a fault
                                      refuses the document */
};

/* Tell the fault of a member below reader->at; a field_fault_fn. */
void reader_tell(void *reader, const char *path, const char *why);

/* Tell a fault whose text is made by printf. */
void reader_tell_text(struct reader *reader, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Read an object by a table into a struct, its faults below reader->at. Return true if there was
 * none. */
bool reader_fields(struct reader *reader, const struct field_table *table, const json_t *object,
                   void *ret);

/* Do that for the object of a member, its faults below reader->at and the member's name. True for
 * no object. */
bool reader_part(struct reader *reader, const char *member, const struct field_table *table,
                 const json_t *object, void *ret);

/* Return the strings of an array as a list that ends with NULL, on mem; NULL for no array. */
const char **reader_list(struct reader *reader, const json_t *array);

/* ---- the parts */

/* Read an object of header fields that go out with a request, after `base`, whose fields of the
 * same names are replaced. */
struct managed_headers reader_headers(struct reader *reader, const char *member,
                                      const json_t *object, const struct managed_headers *base);

/* Tell a fault if header fields (an object of them, or an array of names) name the one that carries
 * the credential, which would win. The auth of the resource must have been read. */
void reader_credential_apart(struct reader *reader, const char *member, const json_t *names);

/* Return the fault of an object of header fields of a request, or of an answer. */
field_rule_fn header_request_rule, header_answer_rule;
/* Return the fault of the name of a header field of the caller that is to be passed on. */
field_rule_fn header_forward_rule;
/* Return the fault of the name of a header field that carries a credential. */
field_rule_fn header_credential_rule;

/* Return the fault of the name of any header field, but no pattern. */
field_rule_fn header_any_rule;

/* Rules of single texts. */
field_rule_fn managed_scope_rule;   /* one scope (RFC 6749 3.3) */
field_rule_fn managed_pointer_rule; /* JSON Pointer (RFC 6901) */
field_rule_fn managed_word_rule;    /* letters, digits and ._- */
field_rule_fn managed_object_rule;  /* an object with a limited number of members */

/* Return the places for the parts of a list that may be left out, one for each; NULL: out of
 * memory.
 */
struct managed_left_out *reader_parts(struct reader *reader, const json_t *list);

/* Begin with a part of a list: faults have its place, or leave it out if the document is stored.
 * `by`: its member that names it. */
void reader_part_begin(struct reader *reader, const char *kind, const char *by, const json_t *list,
                       size_t index, struct managed_left_out *parts);

/* End with a list: the document's faults are its own again. Add the parts with a fault to those
 * that the resource leaves out. */
void reader_parts_end(struct reader *reader, const struct managed_left_out *parts, size_t count);

/* Read a member of the document into reader->resource. Each fault names the member's path. */
void reader_routes(struct reader *reader, const json_t *routes);
void reader_tools(struct reader *reader, const json_t *tools);
void reader_auth(struct reader *reader, const json_t *auth);
void reader_interaction(struct reader *reader, const json_t *object);
void reader_cors(struct reader *reader, const json_t *object);

/* Check the members of upstreamAuth against its type and each other, and set the defaults. */
void reader_auth_rules(struct reader *reader, const json_t *object, const json_t *private_key,
                       struct managed_auth *auth);

/* Check an address of an upstream or of its authorization server: https, or http if the host is in
 * the list of the setting. Return its fault; *ret_listed (may be NULL): the host is in the list. */
const char *reader_address_fault(struct reader *reader, const char *url, bool *ret_listed);

/* Note the name of a missing member; the first one stays. */
void reader_missing(struct reader *reader, const char *what);

#endif
