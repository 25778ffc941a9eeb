/* The visible part of a text. */
#ifndef AZ_BASE_VISIBLE_H
#define AZ_BASE_VISIBLE_H

/* Kinds of characters, by what they show. */
enum visible_class {
    VISIBLE_GLYPH,    /* itself */
    VISIBLE_BLANK,    /* nothing alone, and it is allowed among others: blanks, fillers, joiners */
    VISIBLE_SELECTOR, /* the same: variation selectors of plane 14, in which texts can be hidden */
    VISIBLE_CONTROL,  /* nothing: controls, and other ends of lines */
    VISIBLE_MARK,     /* nothing: it says in which direction neighbours are read */
    VISIBLE_REORDERS, /* nothing: it reorders the text around it */
    VISIBLE_TAG,      /* nothing: the tags of plane 14, which models read */
    VISIBLE_NOTHING,  /* nothing else */
    VISIBLE_MALFORMED /* no character: an octet that begins no well-formed UTF-8 */
};

/* Return the class of the character at *text and move *text behind it. At the end of the text the
 * class is VISIBLE_CONTROL and *text stays. */
enum visible_class visible_next(const char **text);

/*
 * Return the fault of a text that people read on pages, in lists and in logs, as a text that fits
 * after its name, or NULL. Control characters, invisible characters and those that reorder text
 * could make one client look like another; a text of blanks alone would have no name. "" has no
 * fault. Malformed UTF-8 has one.
 */
const char *visible_fault(const char *text);

#endif
