/* True if all of a text can be seen. */
#ifndef AZ_BASE_VISIBLE_H
#define AZ_BASE_VISIBLE_H

/*
 * Return the fault of a text that people read on pages, in lists and in logs, as a text that fits
 * after its name, or NULL. Control characters, invisible characters and those that reorder text
 * could make one client look like another; a text of blanks alone would have no name. "" has no
 * fault. The text is valid UTF-8.
 */
const char *visible_fault(const char *text);

#endif
