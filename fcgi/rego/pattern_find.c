/* The search: all states at once, in the order in which Go's package prefers them. */
#include "config.h"

#include <string.h>

#include "rego/pattern_private.h"

/* States that wait for one character, in order of preference. */
struct state_list {
    uint32_t count;
    uint32_t *code;  /* instruction of each state, each instruction once */
    uint32_t *place; /* index in `code` of each instruction that is there */
    int64_t *saved;  /* offsets of the groups of each state, by its index in `code` */
};

struct pattern_search {
    const struct pattern *pattern;
    const struct rego_value *text;
    unsigned slots; /* number of offsets of a state */
    int64_t steps;  /* that are left */
    int64_t *saved; /* of the state that is being added */
    struct state_list now, then;
};

static bool
is_word(const struct rego_value *text, int64_t at)
{
    if (at < 0 || at >= text->count)
        return false;
    char c = text->text[at];
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static bool
is_place(const struct rego_value *text, int64_t at, enum pattern_place place)
{
    switch (place) {
    case PLACE_TEXT_BEGIN:
        return at == 0;
    case PLACE_TEXT_END:
        return at == text->count;
    case PLACE_LINE_BEGIN:
        return at == 0 || text->text[at - 1] == '\n';
    case PLACE_LINE_END:
        return at == text->count || text->text[at] == '\n';
    case PLACE_WORD_EDGE:
        return is_word(text, at - 1) != is_word(text, at);
    case PLACE_NO_WORD_EDGE:
        return is_word(text, at - 1) == is_word(text, at);
    }
    return false;
}

/* Add a state and those that it reaches without a character. The depth is at most the number of
 * instructions, since each is entered once. */
static void
add_state(struct pattern_search *search, struct state_list *list, uint32_t code, int64_t at)
{
    for (;;) {
        const struct instruction *instruction = &search->pattern->code[code];
        uint32_t place = list->place[code];
        if (place < list->count && list->code[place] == code)
            return;
        search->steps--;
        list->place[code] = list->count;
        list->code[list->count] = code;
        memcpy(list->saved + (size_t) list->count * search->slots, search->saved,
               search->slots * sizeof(int64_t));
        list->count++;
        switch (instruction->op) {
        case OP_PLACE:
            if (!is_place(search->text, at, instruction->argument))
                return;
            break;
        case OP_SAVE: {
            int64_t before = search->saved[instruction->argument];
            search->saved[instruction->argument] = at;
            add_state(search, list, instruction->next, at);
            search->saved[instruction->argument] = before;
            return;
        }
        case OP_SPLIT:
            add_state(search, list, instruction->next, at);
            code = instruction->other;
            continue;
        case OP_CHARACTER:
        case OP_MATCH:
            return;
        }
        code = instruction->next;
    }
}

/* Move each state over a character. True if one of them has matched; states of lower preference are
 * dropped. */
static bool
step_states(struct pattern_search *search, uint32_t point, int64_t at, int64_t next,
            struct pattern_match *match)
{
    search->then.count = 0;
    for (uint32_t i = 0; i < search->now.count; i++) {
        const struct instruction *instruction = &search->pattern->code[search->now.code[i]];
        const int64_t *saved = search->now.saved + (size_t) i * search->slots;
        if (instruction->op == OP_MATCH) {
            memcpy(match->at, saved, search->slots * sizeof(int64_t));
            match->at[1] = at;
            return true;
        }
        if (instruction->op != OP_CHARACTER || at == search->text->count
            || !pattern_set_has(&instruction->set, point))
            continue;
        memcpy(search->saved, saved, search->slots * sizeof(int64_t));
        add_state(search, &search->then, instruction->next, next);
    }
    return false;
}

static bool
take_list(struct pattern_search *search, struct state_list *list)
{
    uint32_t count = search->pattern->count;
    list->code = talloc_array(search, uint32_t, count);
    list->place = talloc_zero_array(search, uint32_t, count);
    list->saved = talloc_array(search, int64_t, (size_t) count * search->slots);
    return list->code != NULL && list->place != NULL && list->saved != NULL;
}

/* Return a code point and the octet behind it. */
static uint32_t
point_at(const struct rego_value *text, int64_t at, int64_t *ret_next)
{
    *ret_next = at + 1;
    if (at >= text->count || (unsigned char) text->text[at] < 0x80)
        return at < text->count ? (unsigned char) text->text[at] : 0;
    while (*ret_next < text->count && (text->text[*ret_next] & 0xc0) == 0x80)
        ++*ret_next;
    return 0x80;
}

static bool
has_beyond_ascii(const struct rego_value *text)
{
    for (uint32_t i = 0; i < text->count; i++)
        if ((unsigned char) text->text[i] >= 0x80)
            return true;
    return false;
}

struct pattern_search *
pattern_search_new(TALLOC_CTX *mem, const struct pattern *pattern, const struct rego_value *text)
{
    struct pattern_search *search = talloc_zero(mem, struct pattern_search);
    if (search == NULL)
        return NULL;
    search->pattern = pattern;
    search->text = text;
    search->slots = pattern->groups * 2;
    search->steps = PATTERN_STEPS_MAX;
    search->saved = talloc_array(search, int64_t, search->slots);
    if (search->saved == NULL || !take_list(search, &search->now)
        || !take_list(search, &search->then)) {
        talloc_free(search);
        return NULL;
    }
    /* Two letters beyond ASCII have an ASCII letter as their other case. */
    if (pattern->folds && has_beyond_ascii(text))
        search->steps = 0;
    return search;
}

int64_t
pattern_steps(const struct pattern_search *search)
{
    return PATTERN_STEPS_MAX - search->steps;
}

enum pattern_outcome
pattern_find(struct pattern_search *search, size_t from, struct pattern_match *ret)
{
    const struct rego_value *text = search->text;
    bool found = false;
    search->now.count = 0;
    for (int64_t at = (int64_t) from, next; at <= text->count; at = next) {
        if (!found) {
            memset(search->saved, 0xff, search->slots * sizeof(int64_t));
            search->saved[0] = at;
            add_state(search, &search->now, search->pattern->start, at);
        }
        if (--search->steps < 0)
            return PATTERN_DOUBTFUL;
        uint32_t point = point_at(text, at, &next);
        found |= step_states(search, point, at, next, ret);
        struct state_list list = search->now;
        search->now = search->then;
        search->then = list;
        if (found && search->now.count == 0)
            return PATTERN_FOUND;
    }
    return found ? PATTERN_FOUND : PATTERN_NONE;
}
