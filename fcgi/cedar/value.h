/* Values of Cedar, as policies, entities and requests have them. */
#ifndef AZ_CEDAR_VALUE_H
#define AZ_CEDAR_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

/* Text with its length: strings of Cedar may contain U+0000. */
struct cedar_text {
    const char *at; /* UTF-8, not terminated */
    size_t length;  /* octets */
};

#define CEDAR_TEXT(literal) ((struct cedar_text){(literal), sizeof(literal) - 1})

/* Kinds of values. The order is that of the terms that stand for them in Rego (cedar/rego_term.h);
 * extension types are sorted by the name of their constructor. */
enum cedar_type {
    CEDAR_BOOL,
    CEDAR_LONG,
    CEDAR_STRING,
    CEDAR_SET,
    CEDAR_ENTITY,
    CEDAR_DATETIME,
    CEDAR_DECIMAL,
    CEDAR_DURATION,
    CEDAR_IP,
    CEDAR_RECORD,
};

/* An address or a range of addresses. */
struct cedar_ip {
    bool v6;
    unsigned prefix;         /* bits of the network: at most 32 or 128 */
    unsigned char octet[16]; /* the first 4, or all */
};

struct cedar_uid {
    struct cedar_text type; /* A::B */
    struct cedar_text id;
};

struct cedar_value {
    enum cedar_type type;
    union {
        bool truth;
        int64_t number; /* Long; decimal in units of 0.0001; datetime and duration in ms */
        struct cedar_text text;
        struct cedar_uid uid;
        struct cedar_ip ip;
        struct {
            struct cedar_value *member; /* of a set sorted, each once; of a record by name */
            struct cedar_text *name;    /* names of a record, sorted, each once; else NULL */
            size_t count;
        } all;
    };
};

/* Compare two texts octet by octet; true if a text is the word; true if two entity uids are equal.
 */
int cedar_text_compare(struct cedar_text a, struct cedar_text b);
bool cedar_text_is(struct cedar_text a, const char *word);
bool cedar_uid_equal(const struct cedar_uid *a, const struct cedar_uid *b);

/* Total order of values; 0: they are equal. It is the order of the terms in Rego, so that a set has
 * one text on both sides. */
int cedar_compare(const struct cedar_value *a, const struct cedar_value *b);

/* Make a set of members, which are moved and sorted in place. */
struct cedar_value cedar_set(struct cedar_value *member, size_t count);

/* Make a record of `count` members with their names, which are sorted in place. False: a name is
 * there twice. */
bool cedar_record(struct cedar_text *name, struct cedar_value *member, size_t count,
                  struct cedar_value *ret);

/* True if a set contains a value. */
bool cedar_set_has(const struct cedar_value *set, const struct cedar_value *value);

/* Return the member of a record, or NULL. */
const struct cedar_value *cedar_record_get(const struct cedar_value *record,
                                           struct cedar_text name);

#endif
