/* Whether all of a text can be seen. */
#ifndef AZ_BASE_VISIBLE_H
#define AZ_BASE_VISIBLE_H

/*
 * What is wrong with a text that people read on pages, in lists and in logs, as a text that fits
 * after its name, or NULL: control characters, characters nobody can see, and those that reorder
 * what is around them would let one client pass for another; one of blanks alone would have no
 * name. "" has no fault. The text is valid UTF-8.
 */
const char *visible_fault(const char *text);

#endif
