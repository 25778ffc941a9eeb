/*
 * Templates of pages, without logic (the part of mustache that is named here):
 *
 *   {{name}}               the value, always escaped for HTML; there is no form that is not
 *   {{#name}}...{{/name}}  once for each object of a list, or once for a text that is not empty or
 *                          true; within an object its members come first
 *   {{^name}}...{{/name}}  when the above would give nothing
 *   {{>name}}              another template of the set
 *   {{! ...}}              a comment, not sent
 *
 * A template is checked whole when it is read: its tags, and that each value stands where escaping
 * makes it harmless (template_html.h). So no value can break a page, whoever branded it.
 */
#ifndef AZ_HTTP_PAGE_TEMPLATE_H
#define AZ_HTTP_PAGE_TEMPLATE_H

#include <jansson.h>
#include <talloc.h>

#include "base/buf.h"

/* Octets of one template; a page with a logo drawn in it has a third of that. */
#define TEMPLATE_SIZE_MAX (64 * 1024)

/* Octets of a filled page. The longest is a consent page with some hundred scopes. */
#define TEMPLATE_OUTPUT_MAX (1024 * 1024)

/* Sections in sections, and templates in templates. */
#define TEMPLATE_DEPTH_MAX 8

/* Characters of a name. */
#define TEMPLATE_NAME_MAX 48

/* Pieces that are looked at for one page: an end for lists within the same list. */
#define TEMPLATE_STEPS_MAX 100000

struct templates;

/* An empty set; NULL when memory is out. */
struct templates *templates_new(TALLOC_CTX *mem);

/*
 * Reads a template into the set under a name, with line ends made line feeds as browsers do before
 * they hash a style. AZ_INVALID: *ret_why says file, line and what is wrong, and lives with the
 * set. AZ_SERVER_ERROR: out of memory.
 */
enum az_status templates_add(struct templates *set, const char *name, const char *file,
                             const char *text, size_t length, const char **ret_why);

/* The first template that another of the set names and that is not in it; NULL when all are there.
 */
const char *templates_missing(const struct templates *set);

/*
 * Whether a template can be filled: what it includes is there and includes no circle, and each name
 * is one of `values`, a list that ends with NULL. Members of a list's objects are named
 * "list.member". AZ_INVALID with *ret_why as above.
 */
enum az_status templates_check(struct templates *set, const char *name, const char *const *values,
                               const char **ret_why);

/*
 * Fills a template that was checked. `values` is an object of texts, booleans and lists of such
 * objects; what is missing is empty. AZ_INVALID with a constant in *ret_why: no such template, one
 * not checked, a value that is no text where one is written, or a page past TEMPLATE_OUTPUT_MAX or
 * TEMPLATE_STEPS_MAX.
 */
enum az_status templates_fill(const struct templates *set, const char *name, const json_t *values,
                              struct buf *out, const char **ret_why);

/* Hears of each <style> of a template that was checked, and of what it includes. */
typedef enum az_status template_style_fn(void *arg, const char *text, size_t length);
enum az_status templates_each_style(const struct templates *set, const char *name,
                                    template_style_fn *take, void *arg);

#endif
