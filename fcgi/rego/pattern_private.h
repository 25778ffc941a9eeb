/* Types that the reader of patterns and the search share. */
#ifndef AZ_REGO_PATTERN_PRIVATE_H
#define AZ_REGO_PATTERN_PRIVATE_H

#include "rego/pattern.h"

/* The length of a group's name that is kept; longer ones are left to the engine. */
#define PATTERN_NAME_MAX 32

enum pattern_place {
    PLACE_TEXT_BEGIN,
    PLACE_TEXT_END,
    PLACE_LINE_BEGIN,
    PLACE_LINE_END,
    PLACE_WORD_EDGE,
    PLACE_NO_WORD_EDGE,
};

enum pattern_op {
    OP_CHARACTER, /* one of a set */
    OP_PLACE,
    OP_SAVE,
    OP_SPLIT, /* `next` first, then `other` */
    OP_MATCH,
};

/* A set of ASCII characters, with or without all other characters. */
struct character_set {
    uint64_t bits[2];
    bool beyond;
};

struct instruction {
    enum pattern_op op;
    unsigned argument; /* of OP_PLACE and OP_SAVE */
    uint32_t next, other;
    struct character_set set;
};

/* Kinds of nodes in the tree that the reader makes. */
enum node_type {
    NODE_EMPTY,
    NODE_SET,
    NODE_PLACE,
    NODE_GROUP,
    NODE_SEQUENCE,
    NODE_CHOICE,
    NODE_REPEAT,
};

struct node {
    enum node_type type;
    struct node *inner, *last; /* the first and the last of those below */
    struct node *next;         /* next sibling */
    struct character_set set;
    unsigned argument; /* the number of a group; a place */
    int least, most;   /* of a repetition; most -1: any number */
    bool lazy;
};

struct pattern {
    struct instruction *code;
    uint32_t count, start;
    unsigned groups;
    bool folds; /* some letters match in either case */
    char name[PATTERN_GROUPS_MAX][PATTERN_NAME_MAX];
};

struct pattern_flags {
    bool fold, dot_all, lines;
};

/* A pattern that is being read. */
struct pattern_reader {
    struct rego_arena *arena;
    struct pattern *pattern;
    const char *at, *end; /* what is still to be read */
    struct pattern_flags flags;
    unsigned depth; /* open groups */
};

/* Write the instructions of a tree, which end in `next`. Returns the first of them; 0: too many. */
uint32_t pattern_code(struct pattern *pattern, const struct node *node, uint32_t next);

/* Add the characters from the first to the last. */
void pattern_set_add(struct character_set *set, unsigned first, unsigned last);

/* Add the other case of each letter. */
void pattern_set_fold(struct character_set *set);

/* Add the class of \d, \s or \w, or its complement. False: it is another letter. */
bool pattern_set_add_class(struct character_set *set, char letter);

/* Read a set behind its opening bracket. False: it has another form. */
bool pattern_read_set(struct pattern_reader *reader, struct character_set *ret);

/* Read the character behind a backslash. Returns -1 for what is not a single character. */
int pattern_read_escaped(struct pattern_reader *reader);

/* True for ASCII letters and digits. */
bool pattern_is_alphanumeric(char c);

/* True if the set has the code point. */
static inline bool
pattern_set_has(const struct character_set *set, uint32_t point)
{
    return point < 128 ? (set->bits[point / 64] >> (point % 64) & 1) != 0 : set->beyond;
}

#endif
