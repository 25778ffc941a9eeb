#include "config.h"

#include "store/audit/proof/seal/seal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/settings/settings.h"
#include "crypto/signed_note.h"
#include "store/db/db.h"

/* Mode of a new file: an auditor's group may read it. */
#define FILE_MODE 0640

/* Octets of the end of the file that are read. */
#define END_OCTETS (2 * NOTE_OCTETS_MAX)

/* The empty line and the begin of the first signature line of a note (C2SP signed-note). */
#define SIGNATURE "\n\n\xe2\x80\x94 "

/* Lines of a checkpoint before its empty line: origin, size and root. */
#define CHECKPOINT_LINES 3

enum audit_unfiled_column { UNFILED_EPOCH, UNFILED_SIZE, UNFILED_NOTE };
static const struct db_stmt audit_unfiled_stmt = {
    "audit_unfiled",
    "SELECT epoch, size, note FROM audit_checkpoint WHERE filed_at IS NULL"
    " ORDER BY epoch, size LIMIT $1",
    1};
/* Those that were read: all up to the last one. */
static const struct db_stmt audit_filed_stmt = {
    "audit_filed",
    "UPDATE audit_checkpoint SET filed_at = now() WHERE filed_at IS NULL"
    "  AND (epoch, size) <= ($1::integer, $2::bigint)",
    2};

bool
audit_write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, text, length);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            length -= (size_t) written;
        }
    }
    return fsync(file) == 0;
}

enum az_status
audit_seal_file_end(struct op *op, char **ret)
{
    const char *name = op->az->cfg->audit_checkpoint_file;
    struct stat about;
    *ret = NULL;
    int file = name != NULL ? open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (file < 0)
        return name == NULL || errno == ENOENT || errno == EACCES
                   ? AZ_OK
                   : op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_AUDIT_CHECKPOINT_FILE: %s: %s", name,
                             strerror(errno));
    ssize_t got = 0;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
        off_t begin = about.st_size > END_OCTETS ? about.st_size - END_OCTETS : 0;
        *ret = talloc_zero_array(op->mem, char, END_OCTETS + 1);
        got = *ret != NULL ? pread(file, *ret, END_OCTETS, begin) : -1;
    }
    close(file);
    return got >= 0 ? AZ_OK
                    : op_fail(op, AZ_SERVER_ERROR, NULL,
                              "SVC_AUDIT_CHECKPOINT_FILE: %s cannot be read", name);
}

char *
audit_last_note(char *text)
{
    char *end = NULL;
    for (char *at = text; (at = strstr(at, SIGNATURE)) != NULL; at++)
        end = at;
    for (int lines = 0; end != NULL && end > text; end--)
        if (end[-1] == '\n' && ++lines == CHECKPOINT_LINES)
            break;
    return end;
}

/* Begin a line of its own: a process that was killed may have left a part of a checkpoint. */
static enum az_status
begin_line(struct op *op, struct buf *text)
{
    char *end;
    enum az_status st = audit_seal_file_end(op, &end);
    size_t length = st == AZ_OK && end != NULL ? strlen(end) : 0;
    if (length > 0 && end[length - 1] != '\n')
        buf_append_char(text, '\n');
    return st;
}

static enum az_status
append_to(struct op *op, const char *name, const struct buf *text)
{
    int file = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    bool written = file >= 0 && audit_write_all(file, text->data, text->len);
    int cause = errno;
    if (file >= 0 && close(file) != 0)
        written = false;
    return written ? AZ_OK
                   : op_fail(op, AZ_SERVER_ERROR, NULL,
                             "SVC_AUDIT_CHECKPOINT_FILE: %s: %s; the checkpoints are appended when "
                             "the file can be written",
                             name, strerror(cause));
}

enum az_status
audit_seal_file(struct op *op)
{
    const char *name = op->az->cfg->audit_checkpoint_file;
    struct db_params params = {.count = 0}, filed = {.count = 0};
    PGresult *result;
    BUF_AUTO text;
    buf_init(&text, op->mem, AUDIT_FILE_CHECKPOINTS * NOTE_OCTETS_MAX + 1);
    if (name == NULL)
        return AZ_OK;
    db_number(&params, AUDIT_FILE_CHECKPOINTS);
    enum az_status st = db_exec(op, &audit_unfiled_stmt, &params, true, &result);
    int count = st == AZ_OK ? PQntuples(result) : 0;
    if (count == 0)
        return st;
    st = begin_line(op, &text);
    for (int i = 0; i < count; i++)
        buf_append_text(&text, db_get(result, i, UNFILED_NOTE));
    if (text.status != AZ_OK)
        return op_no_memory(op);
    if (st == AZ_OK)
        st = append_to(op, name, &text);
    db_number(&filed, db_get_number(result, count - 1, UNFILED_EPOCH, 0));
    db_number(&filed, db_get_number(result, count - 1, UNFILED_SIZE, 0));
    return st == AZ_OK ? db_exec(op, &audit_filed_stmt, &filed, false, NULL) : st;
}
