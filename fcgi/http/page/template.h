/*
 * Templates of pages, without logic; a subset of mustache:
 *
 *   {{name}}               the value; it cannot be written without HTML escaping
 *   {{#name}}...{{/name}}  once for each object of a list, or once for true or a text that is not
 *                          empty; within an object its members are looked up first
 *   {{^name}}...{{/name}}  if the above would write nothing
 *   {{~name}}              a text in the language of the page (texts.h), with its values escaped,
 * each in a bdi element where an element may stand
 *   {{>name}}              another template of the set
 *   {{! ...}}              a comment, not sent
 *
 * Reading a template checks its tags, and that each value stands where escaping makes it harmless
 * (template_html.h). So no value can break a page, even in a branded template.
 */
#ifndef AZ_HTTP_PAGE_TEMPLATE_H
#define AZ_HTTP_PAGE_TEMPLATE_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "base/buf.h"

/* Longest template, in octets; a page with a drawn logo has a third of that. */
#define TEMPLATE_SIZE_MAX (64 * 1024)

/* Longest filled page, in octets. The longest real one is a consent page with a hundred scopes. */
#define TEMPLATE_OUTPUT_MAX (1024 * 1024)

/* Depth of sections within sections, and of templates within templates. */
#define TEMPLATE_DEPTH_MAX 8

/* Longest name, in octets. */
#define TEMPLATE_NAME_MAX 48

/* Characters of names. */
#define TEMPLATE_NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Most pieces for one page; ends lists that contain themselves. */
#define TEMPLATE_STEPS_MAX 100000

struct templates;

/* Make an empty set; NULL: no memory. */
struct templates *templates_new(TALLOC_CTX *mem);

/*
 * Read a template into the set. Line ends become line feeds, as in a browser before it hashes a
 * style. AZ_INVALID: *ret_why gives file, line and fault, and lives with the set. AZ_SERVER_ERROR:
 * no memory.
 */
enum az_status templates_add(struct templates *set, const char *name, const char *file,
                             const char *text, size_t length, const char **ret_why);

/* Return the first included template that the set lacks, or NULL. */
const char *templates_missing(const struct templates *set);

/*
 * Check that a template can be filled: all its includes are there and form no loop, and each name
 * is one of `values`, which ends with NULL, or of the object `texts`, whose values are checked too.
 * Members of a list's objects are named "list.member". AZ_INVALID: *ret_why as above.
 */
enum az_status templates_check(struct templates *set, const char *name, const char *const *values,
                               const json_t *texts, const char **ret_why);

/* True if a template itself writes a value. */
bool templates_uses(const struct templates *set, const char *name, const char *value);

/*
 * Fill a template that was checked. `values` is an object of texts, booleans and lists of such
 * objects; a missing value is empty. `texts` has the texts of a language. AZ_INVALID, with a
 * constant in *ret_why: the template is missing or unchecked, a value is not a text where a text is
 * written, a text is missing, or the page passes TEMPLATE_OUTPUT_MAX or TEMPLATE_STEPS_MAX.
 */
enum az_status templates_fill(const struct templates *set, const char *name, const json_t *values,
                              const json_t *texts, struct buf *out, const char **ret_why);

/* Called for each <style> of a checked template and of its includes. */
typedef enum az_status template_style_fn(void *arg, const char *text, size_t length);
enum az_status templates_each_style(const struct templates *set, const char *name,
                                    template_style_fn *take, void *arg);

#endif
