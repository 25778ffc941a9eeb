/* The forms of an export of the audit log. */
#ifndef AZ_ADMIN_EXPORT_FORMS_H
#define AZ_ADMIN_EXPORT_FORMS_H

#include "http/route.h"
#include "store/audit/proof/leaves.h"
#include "store/audit/read/rows.h"

/* An export. */
struct export
{
    const struct export_format *format;
    struct audit_filter filter;
    struct audit_walk walk;
    struct audit_leaves leaves; /* of the rows */
    int64_t count;              /* rows written */
    int64_t most;               /* rows that may be written */
    bool truncated;             /* there are more */
};

/* A row and its leaf. */
struct export_row {
    TALLOC_CTX *mem;
    const struct audit_row *row;
    struct audit_row_leaf place;
};

/* One format of the export. Without `row` it is the log as lines. */
struct export_format {
    const char *name, *type, *disposition;
    void (*begin)(struct request *req, const struct export *export, struct buf *out);
    void (*row)(struct buf *out, const struct export *export, const struct export_row *row);
    void (*end)(const struct export *export, struct buf *out);
};

/* Return the form of this name; NULL name: json; NULL: there is none. */
const struct export_format *export_form_find(const char *name);

#endif
