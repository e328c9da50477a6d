/* Documents on top of syi_locked_file: parsing, what to do with damage, and formatting. */
#define _POSIX_C_SOURCE 200809L
#include "store.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/neutral.h"
#include "locked_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef enum condition { GOOD, DAMAGED, NEWER } condition;

typedef struct document {
    json_t *root; /* NULL unless GOOD */
    condition condition;
    char problem[sizeof(((json_error_t *)0)->text) + 64];
} document;

/* A warning is held back until the lock is released: the host's callback may call the library. */
typedef struct notice {
    char text[640];
} notice;

static void tell(const syi_store *store, const notice *notice)
{
    if (store->log && notice->text[0])
        syi_log_line(store->log, SY_LOG_WARNING, "%s", notice->text);
}

/* jansson takes its memory from malloc: how much was asked for is not known here. */
sy_status syi_json_no_memory(void)
{
    return syi_fail(SY_ERR_MEMORY, "cannot get memory for a JSON document");
}

static sy_status check_place(const syi_store *store)
{
    if (store->path)
        return SY_OK;
    return syi_fail(SY_ERR_IO,
                    "no place for %s: neither HOME nor the user database names a home folder; set "
                    "HOME or XDG_STATE_HOME",
                    store->name);
}

/* ---- loading ------------------------------------------------------------------------------ */

static sy_status inspect(const syi_store *store, document *doc)
{
    const char *problem = json_is_object(doc->root) ? store->check(doc->root) : "not an object";
    if (!problem)
        return SY_OK;
    /* A newer version may have good reasons for another shape. */
    doc->condition = json_integer_value(json_object_get(doc->root, "format")) > SYI_STORE_FORMAT
                         ? NEWER
                         : DAMAGED;
    snprintf(doc->problem, sizeof doc->problem, "%s", problem);
    json_decref(doc->root);
    doc->root = NULL;
    return SY_OK;
}

/* A damaged file may hold anything, and another program's text a NUL. */
#define HOW_READ (JSON_DECODE_ANY | JSON_ALLOW_NUL)

/* When memory runs out, jansson may take a token for a syntax error, which errno tells apart from
 * damage; and it may leave characters out of a string without a word. */
static sy_status parse(const syi_store *store, const char *bytes, size_t size, document *doc)
{
    json_error_t error;
    errno = 0;
    doc->root = json_loadb(bytes, size, HOW_READ, &error);
    if (doc->root)
        return inspect(store, doc);
    if (errno == ENOMEM || !error.text[0] || json_error_code(&error) == json_error_out_of_memory)
        return syi_json_no_memory();
    doc->condition = DAMAGED;
    snprintf(doc->problem, sizeof doc->problem, "line %d: %s", error.line, error.text);
    return SY_OK;
}

/* What is written back must not have lost those characters: a second look must find the same. */
static sy_status confirm(const char *bytes, size_t size, document *doc)
{
    json_t *again = json_loadb(bytes, size, HOW_READ, NULL);
    bool same = again && json_equal(again, doc->root);
    json_decref(again);
    if (same)
        return SY_OK;
    json_decref(doc->root);
    doc->root = NULL;
    return syi_json_no_memory();
}

static sy_status load(const syi_store *store, const char *path, bool to_change, document *doc)
{
    char *bytes;
    size_t size;
    syi_neutral neutral;
    sy_status status;
    *doc = (document){NULL, GOOD, ""};
    SYI_TRY(syi_file_read(path, &bytes, &size));
    if (!bytes) {
        doc->root = json_object();
        return doc->root ? SY_OK : syi_json_no_memory();
    }
    if (syi_neutral_enter(&neutral)) {
        status = parse(store, bytes, size, doc);
        if (status == SY_OK && doc->root && to_change)
            status = confirm(bytes, size, doc);
        syi_neutral_leave(&neutral);
    } else {
        status = syi_json_no_memory();
    }
    syi_free(bytes);
    return status;
}

/* ---- damage ------------------------------------------------------------------------------- */

static sy_status set_aside(const syi_locked_file *file, document *doc, notice *notice)
{
    SYI_TRY(syi_file_set_aside(file));
    snprintf(notice->text, sizeof notice->text,
             "'%.300s' is damaged (%s): set aside as *.corrupt, going on without it", file->path,
             doc->problem);
    doc->root = json_object();
    return doc->root ? SY_OK : syi_json_no_memory();
}

/* The reader had no lock: a writer may have put a good file there meanwhile. */
static sy_status look_again(const syi_store *store, document *doc, notice *notice)
{
    syi_locked_file file;
    bool taken;
    sy_status status;
    SYI_TRY(syi_file_try_lock(store->path, false, &file, &taken));
    if (!taken) /* waiting would be for who only reads, too */
        return syi_fail(SY_ERR_IO, "another process holds '%.300s.lock'", store->path);
    status = load(store, file.path, false, doc);
    if (status == SY_OK && doc->condition == DAMAGED)
        status = set_aside(&file, doc, notice);
    syi_file_unlock(&file);
    return status;
}

/* Going on without a file that stays where it is. Said once, or every read would say it. */
static sy_status go_without(syi_store *store, document *doc, notice *notice)
{
    if (atomic_exchange(&store->said, true))
        notice->text[0] = '\0';
    doc->root = json_object();
    return doc->root ? SY_OK : syi_json_no_memory();
}

static sy_status read_damaged(syi_store *store, document *doc, notice *notice)
{
    sy_error before = *sy_last_error();
    char problem[sizeof doc->problem];
    sy_status status;
    snprintf(problem, sizeof problem, "%s", doc->problem);
    status = look_again(store, doc, notice);
    if (status != SY_ERR_IO)
        return status;
    snprintf(notice->text, sizeof notice->text,
             "going on without a damaged file (%s), which stays: %.360s", problem,
             sy_last_error()->text);
    syi_error_adopt(&before); /* the read goes on, and does not fail */
    return go_without(store, doc, notice);
}

static sy_status read_newer(syi_store *store, document *doc, notice *notice)
{
    snprintf(notice->text, sizeof notice->text,
             "going on without '%.300s': a newer version of steelyard wrote it (%s)", store->path,
             doc->problem);
    return go_without(store, doc, notice);
}

sy_status syi_store_read(syi_store *store, json_t **out)
{
    notice notice = {""};
    document doc;
    sy_status status;
    SYI_TRY(check_place(store));
    status = load(store, store->path, false, &doc);
    if (status == SY_OK && doc.condition == DAMAGED)
        status = read_damaged(store, &doc, &notice);
    if (status == SY_OK && !doc.root)
        status = read_newer(store, &doc, &notice);
    tell(store, &notice);
    if (status == SY_OK)
        *out = doc.root;
    return status;
}

static void look_at(const syi_store *store, struct stat *file)
{
    if (!store->path || stat(store->path, file) != 0)
        memset(file, 0, sizeof *file);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool syi_store_changed(syi_store *store, syi_store_look *last)
{
    const syi_store_look before = *last;
    *last = (syi_store_look){.tick = syi_tick_ns(), .updates = atomic_load(&store->updates)};
    if (last->tick == before.tick && last->updates == before.updates) {
        last->file = before.file;
        return false;
    }
    look_at(store, &last->file);
    return !same_file(&last->file, &before.file);
}

/* ---- updating ----------------------------------------------------------------------------- */

static sy_status format_document(const json_t *root, char **bytes, size_t *size)
{
    /* 17 digits give back the same double. */
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(17);
    *size = json_dumpb(root, NULL, 0, flags);
    *bytes = *size ? syi_alloc(*size + 1, 1) : NULL;
    if (!*bytes || json_dumpb(root, *bytes, *size, flags) != *size) {
        syi_free(*bytes);
        return syi_json_no_memory();
    }
    (*bytes)[(*size)++] = '\n';
    return SY_OK;
}

static sy_status write_document(const syi_locked_file *file, const json_t *root)
{
    char *bytes;
    size_t size;
    syi_neutral neutral;
    sy_status status;
    if (!syi_neutral_enter(&neutral))
        return syi_json_no_memory();
    status = format_document(root, &bytes, &size);
    syi_neutral_leave(&neutral);
    if (status == SY_OK) {
        status = syi_file_replace(file, bytes, size);
        syi_free(bytes);
    }
    return status;
}

static sy_status update_locked(const syi_store *store, const syi_locked_file *file,
                               syi_store_edit *edit, void *user, notice *notice)
{
    document doc;
    sy_status status = load(store, file->path, true, &doc);
    if (status == SY_OK && doc.condition == NEWER)
        status = syi_fail(SY_ERR_UNSUPPORTED,
                          "cannot change '%.300s' (%s): a newer version of steelyard wrote it; "
                          "update this one or choose another path",
                          file->path, doc.problem);
    if (status == SY_OK && doc.condition == DAMAGED)
        status = set_aside(file, &doc, notice);
    if (status == SY_OK)
        status = edit(doc.root, user);
    if (status == SY_OK)
        status = write_document(file, doc.root);
    json_decref(doc.root);
    return status;
}

/* Gives the lock back. */
static sy_status update_and_unlock(syi_store *store, syi_locked_file *file, syi_store_edit *edit,
                                   void *user)
{
    notice notice = {""};
    sy_status status = update_locked(store, file, edit, user, &notice);
    atomic_fetch_add(&store->updates, 1);
    syi_file_unlock(file);
    tell(store, &notice);
    return status;
}

sy_status syi_store_prepare(const syi_store *store)
{
    syi_locked_file file;
    bool taken;
    SYI_TRY(check_place(store));
    SYI_TRY(syi_file_try_lock(store->path, true, &file, &taken));
    if (taken)
        syi_file_unlock(&file);
    return SY_OK;
}

sy_status syi_store_update(syi_store *store, syi_store_edit *edit, void *user)
{
    syi_locked_file file;
    SYI_TRY(check_place(store));
    SYI_TRY(syi_file_lock(store->path, true, store->patience_ns, &file));
    return update_and_unlock(store, &file, edit, user);
}

sy_status syi_store_amend(syi_store *store, const syi_store_look *seen, syi_store_edit *edit,
                          void *user, bool *done)
{
    syi_locked_file file;
    struct stat now;
    *done = false;
    SYI_TRY(check_place(store));
    SYI_TRY(syi_file_try_lock(store->path, !seen, &file, done));
    if (!*done)
        return SY_OK;
    look_at(store, &now);
    *done = !seen || same_file(&now, &seen->file);
    if (*done)
        return update_and_unlock(store, &file, edit, user);
    syi_file_unlock(&file);
    return SY_OK;
}

/* ---- pieces of documents ------------------------------------------------------------------ */

sy_status syi_json_put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0 ? SY_OK : syi_json_no_memory();
}

sy_status syi_json_check_text(const char *what, const char *text)
{
    json_error_t error;
    json_t *string;
    if (!text || !*text)
        return syi_fail(SY_ERR_ARGUMENT, "the %s is empty; give one", what);
    string = json_pack_ex(&error, 0, "s", text);
    if (string) {
        json_decref(string);
        return SY_OK;
    }
    if (!error.text[0] || json_error_code(&error) != json_error_invalid_utf8)
        return syi_json_no_memory();
    return syi_fail(SY_ERR_ARGUMENT, "the %s is not UTF-8 text; choose another", what);
}

sy_status syi_json_child(json_t *object, const char *key, json_t **out)
{
    if (!json_object_get(object, key))
        SYI_TRY(syi_json_put(object, key, json_object()));
    *out = json_object_get(object, key);
    return SY_OK;
}

sy_status syi_json_stamp(json_t *object)
{
    char text[32];
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc))
        return syi_fail(SY_ERR_INTERNAL, "the system clock's date cannot be written");
    return syi_json_put(object, "updated_at", json_string(text));
}
