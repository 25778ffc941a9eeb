/*
 * Applies a unified diff and is as strict as can be: each number of a hunk, each line of context
 * and each removed line must be right, and nothing may be left over. A model to hold text_diff.c
 * against, beside the program patch, which forgives.
 */
#ifndef AZ_T_BASE_PATCH_MODEL_H
#define AZ_T_BASE_PATCH_MODEL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State of applying a diff: the rest of the old text and of the diff, and the new text so far. */
struct patch_model {
    const char *from, *diff;
    size_t from_line, to_line; /* lines that were passed */
    size_t removed, added;     /* counted */
    char *to;                  /* NUL-terminated, large enough for both */
    size_t length;
    const char *fault; /* NULL while all is well */
};

static inline size_t
patch_model_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end != NULL ? (size_t) (end - text) + 1 : strlen(text);
}

static inline void
patch_model_copy(struct patch_model *model, size_t octets)
{
    memcpy(model->to + model->length, model->from, octets);
    model->length += octets;
    model->from += octets;
}

/* Read "start,count" or "start". */
static inline bool
patch_model_range(const char **at, char sign, size_t *ret_start, size_t *ret_count)
{
    char *end;
    if (*(*at)++ != sign)
        return false;
    *ret_start = strtoul(*at, &end, 10);
    *ret_count = 1;
    if (*end == ',') {
        *ret_count = strtoul(end + 1, &end, 10);
        if (*ret_count == 1)
            return false;
    }
    *at = end;
    return true;
}

/* Read one line of a hunk, at model->diff, without its sign. */
static inline size_t
patch_model_body(struct patch_model *model, const char **ret_text)
{
    static const char marker[] = "\\ No newline at end of file\n";
    size_t length = patch_model_line(model->diff + 1);
    *ret_text = model->diff + 1;
    model->diff += length + 1;
    if (length == 0 || (*ret_text)[length - 1] != '\n')
        model->fault = "a line of the diff without an end";
    if (strncmp(model->diff, marker, sizeof(marker) - 1) == 0) {
        model->diff += sizeof(marker) - 1;
        length--;
    }
    return length;
}

static inline void
patch_model_hunk(struct patch_model *model)
{
    size_t from_start, from_count, to_start, to_count;
    const char *at = model->diff + 3;
    if (strncmp(model->diff, "@@ ", 3) != 0
        || !patch_model_range(&at, '-', &from_start, &from_count) || *at++ != ' '
        || !patch_model_range(&at, '+', &to_start, &to_count) || strncmp(at, " @@\n", 4) != 0) {
        model->fault = "a bad hunk line";
        return;
    }
    model->diff = at + 4;
    for (; model->from_line + (from_count > 0) < from_start && *model->from != '\0';
         model->from_line++, model->to_line++)
        patch_model_copy(model, patch_model_line(model->from));
    if (model->from_line + (from_count > 0) != from_start
        || model->to_line + (to_count > 0) != to_start)
        model->fault = "a hunk that starts at another line";
    while ((from_count > 0 || to_count > 0) && model->fault == NULL) {
        char sign = *model->diff;
        const char *text;
        size_t length = patch_model_body(model, &text);
        bool old = sign != '+', new = sign != '-';
        if (strchr(" +-", sign) == NULL || sign == '\0' || (old && from_count == 0)
            || (new &&to_count == 0)) {
            model->fault = "a line that does not belong in the hunk";
            return;
        }
        if (old
            && (patch_model_line(model->from) != length
                || memcmp(model->from, text, length) != 0)) {
            model->fault = "a line that is not in the old text";
            return;
        }
        if (new) {
            memcpy(model->to + model->length, text, length);
            model->length += length;
        }
        model->from += old ? length : 0;
        model->from_line += old;
        from_count -= old;
        to_count -= new;
        model->to_line += new;
        model->removed += !new;
        model->added += !old;
    }
}

/* Apply a diff; model->fault is NULL or the fault. The caller frees model->to with free(). */
static inline void
patch_model_apply(struct patch_model *model, const char *from, const char *diff)
{
    *model = (struct patch_model){.from = from, .diff = diff};
    model->to = malloc(strlen(from) + strlen(diff) + 1);
    if (*diff != '\0') {
        if (strncmp(model->diff, "--- a/", 6) != 0)
            model->fault = "no line ---";
        model->diff += patch_model_line(model->diff);
        if (strncmp(model->diff, "+++ b/", 6) != 0)
            model->fault = "no line +++";
        model->diff += patch_model_line(model->diff);
        if (*model->diff == '\0')
            model->fault = "no hunk";
    }
    while (*model->diff != '\0' && model->fault == NULL)
        patch_model_hunk(model);
    if (model->fault == NULL)
        patch_model_copy(model, strlen(model->from));
    model->to[model->length] = '\0';
}

#endif
