/* Values of Rego: immutable once they are made, in an arena that is freed as a whole. Undefined is
 * NULL everywhere. */
#ifndef AZ_REGO_VALUE_H
#define AZ_REGO_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

/* Deepest nesting of a value; the limits of questions and rows are lower. */
#define REGO_DEPTH_MAX 128

/* Most values within a value. A value that is used in many places takes memory once but is read in
 * each of them: thirty arrays, each of which has the one before twice, are 2^30 values. */
#define REGO_NODES_MAX (1u << 24)

/* In the order in which OPA sorts them. */
enum rego_type {
    REGO_NULL,
    REGO_BOOLEAN,
    REGO_NUMBER,
    REGO_STRING,
    REGO_ARRAY,
    REGO_OBJECT,
    REGO_SET,
};

/* Traits of values: bits. */
enum rego_trait {
    REGO_ODD = 1,    /* a number that is written otherwise than its equals would be */
    REGO_HIDDEN = 2, /* stands for a value that is not known (machine_hidden.c) */
};

struct rego_value;

struct rego_member {
    const struct rego_value *key, *value;
};

struct rego_value {
    uint8_t type;
    bool decimal;   /* a number that is not a 64-bit integer: `text` holds it as written */
    bool open;      /* made by a running machine, which may add to it */
    bool literal;   /* a set or object that is written with variables; see REGO_SCAN */
    uint8_t traits; /* REGO_ODD, REGO_HIDDEN; a composite has those of the values within it */
    uint32_t count; /* octets of a string or decimal; items or members */
    uint32_t room;  /* items or members that fit */
    uint32_t nodes; /* values within a composite, counted as often as they occur */
    union {
        bool boolean;
        int64_t integer;
        const char *text;               /* UTF-8; may hold NUL, and ends with one */
        const struct rego_value **item; /* of an array; of a set, sorted */
        struct rego_member *member;     /* sorted by key */
    };
};

/* Memory that is taken piece by piece and freed at once. */
struct rego_arena {
    TALLOC_CTX *mem;
    char *at, *end;
    size_t taken; /* octets of all blocks */
    size_t max;   /* of `taken` */
    bool full;    /* an allocation did not fit, or there is no memory */
    bool twins;   /* equal values in two spellings met in a set or object, and one was dropped */
    /* Moves `end` by at least so many octets, which are zero; false: there are no more. NULL:
     * blocks are children of `mem`. */
    bool (*grow)(struct rego_arena *arena, size_t octets);
};

/* Start an arena whose blocks are children of `mem`. It never takes more than `max` octets. */
void rego_arena_init(struct rego_arena *arena, TALLOC_CTX *mem, size_t max);

/* Return zeroed octets, aligned for any value. NULL: arena->full is set. */
void *rego_take(struct rego_arena *arena, size_t octets);
/* The same octets as they are, for a caller that writes all of them. */
void *rego_take_unset(struct rego_arena *arena, size_t octets);

extern const struct rego_value rego_null, rego_true, rego_false, rego_empty_string;

/* Stands in a question for a value that is defined, and not known. */
extern const struct rego_value rego_hidden;

/* Return the shared value of a boolean. */
static inline const struct rego_value *
rego_boolean(bool boolean)
{
    return boolean ? &rego_true : &rego_false;
}

/* Each makes a value. NULL: arena->full is set. */
const struct rego_value *rego_integer(struct rego_arena *arena, int64_t integer);
/* Copies the octets, which are a number as JSON writes it. */
const struct rego_value *rego_number(struct rego_arena *arena, const char *text, size_t length);
/* Copies the octets. */
const struct rego_value *rego_string(struct rego_arena *arena, const char *text, size_t length);
/* Borrows them; they end with NUL. */
const struct rego_value *rego_text(struct rego_arena *arena, const char *text, size_t length);
/* Make empty values, to which the functions below add. */
struct rego_value *rego_array(struct rego_arena *arena, size_t room);
struct rego_value *rego_object(struct rego_arena *arena, size_t room);
struct rego_value *rego_set(struct rego_arena *arena, size_t room);

/* Add to a value that only its maker has seen. An item or key that is there in another spelling
 * stays, and arena->twins is set. False: arena->full is set. */
bool rego_append(struct rego_arena *arena, struct rego_value *array, const struct rego_value *item);
bool rego_add(struct rego_arena *arena, struct rego_value *set, const struct rego_value *item);
/* A key that is there already gets the new value. */
bool rego_insert(struct rego_arena *arena, struct rego_value *object, const struct rego_value *key,
                 const struct rego_value *value);
/* Append a member without sorting; call rego_sort_members() after the last one. */
bool rego_append_member(struct rego_arena *arena, struct rego_value *object,
                        const struct rego_value *key, const struct rego_value *value);
/* Sort members that were appended. False: a key is there twice. */
bool rego_sort_members(struct rego_value *object);

/* Return a copy that can be added to: its items are shared. */
struct rego_value *rego_copy(struct rego_arena *arena, const struct rego_value *value);

/* Return < 0, 0 or > 0 in the order of OPA: null, booleans, numbers, strings, arrays, objects,
 * sets. */
int rego_compare(const struct rego_value *a, const struct rego_value *b);

/* True if two equal values have a number that is written in two ways: OPA does not find all of them
 * equal everywhere, and gives the one or the other. */
bool rego_is_spelled_otherwise(const struct rego_value *a, const struct rego_value *b);

/* Return the value of a key of an object, the item of an array at an index, or the member of a set
 * itself, or NULL if there is none. */
const struct rego_value *rego_get(const struct rego_value *value, const struct rego_value *key);
/* Return the key of an object that equals another one, which may be written in another way, or
 * NULL. */
const struct rego_value *rego_key(const struct rego_value *object, const struct rego_value *key);
const struct rego_value *rego_get_text(const struct rego_value *object, const char *key);

/* True if the set has the item. */
bool rego_has(const struct rego_value *set, const struct rego_value *item);

/* Return the base value merged with the other, objects member by member; of two other values the
 * one of `base` is replaced. NULL: arena->full is set. */
const struct rego_value *rego_merge(struct rego_arena *arena, const struct rego_value *base,
                                    const struct rego_value *over);

/* True if OPA takes the value for a 64-bit integer, which *ret gets: 1 and 1.0, but not 1e0. */
bool rego_is_integer(const struct rego_value *value, int64_t *ret);

/* Read JSON text. Numbers keep their digits. NULL: it is no JSON, a name is there twice, it is
 * nested deeper than REGO_DEPTH_MAX, or the arena is full. */
const struct rego_value *rego_parse(struct rego_arena *arena, const char *text, size_t length);
/* The same for a text that may be nested so deep. */
const struct rego_value *rego_parse_nested(struct rego_arena *arena, const char *text,
                                           size_t length, unsigned depth);

/*
 * Return what rego_parse() reads in the text of a value (jsonx_dump()), without the text, whose
 * octets are *ret_length. Texts are borrowed, so the value must outlive the arena's use. NULL also
 * if the value has no such text.
 */
const struct rego_value *rego_of_json(struct rego_arena *arena, const json_t *json,
                                      size_t *ret_length);

/* Append the value as OPA writes it in JSON, sets as arrays, and keys that are no strings as
 * strings of their JSON text. False: no memory. */
struct buf;
bool rego_write(struct buf *buf, const struct rego_value *value);

#endif
