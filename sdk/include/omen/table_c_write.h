/* SPDX-License-Identifier: Apache-2.0 */
/* The part of omen/table_c.h that turns a table into an Arrow stream; include that one. */
#ifndef OMEN_TABLE_C_WRITE_H
#define OMEN_TABLE_C_WRITE_H

#include "omen/table_c.h"

static inline void omen_c_release_schema(struct ArrowSchema *schema) {
  for (int64_t c = 0; c < schema->n_children; ++c) {
    struct ArrowSchema *child = schema->children[c];
    if (child != NULL && child->release != NULL) child->release(child);
    free(child);
  }
  free(schema->children);
  free((void *)schema->name);
  free((void *)schema->metadata);
  schema->release = NULL;
}

static inline void omen_c_release_array(struct ArrowArray *array) {
  for (int64_t c = 0; c < array->n_children; ++c) {
    struct ArrowArray *child = array->children[c];
    if (child != NULL && child->release != NULL) child->release(child);
    free(child);
  }
  for (int64_t b = 0; b < array->n_buffers && array->buffers != NULL; ++b)
    free((void *)array->buffers[b]);
  free(array->children);
  free((void *)array->buffers);
  array->release = NULL;
}

static inline char *omen_c_put_text(char *at, const char *text) {
  const int32_t size = (int32_t)strlen(text);
  memcpy(at, &size, sizeof size);
  memcpy(at + sizeof size, text, (size_t)size);
  return at + sizeof size + size;
}

/* One pair of Arrow metadata. */
static inline char *omen_c_one_meta(const char *key, const char *value) {
  const int32_t pairs = 1;
  char *meta = (char *)malloc(3 * sizeof pairs + strlen(key) + strlen(value));
  if (meta == NULL) return NULL;
  memcpy(meta, &pairs, sizeof pairs);
  omen_c_put_text(omen_c_put_text(meta + sizeof pairs, key), value);
  return meta;
}

/* A schema node with memory for its children; false: out of memory, release it all the same. */
static inline bool omen_c_make_schema(struct ArrowSchema *schema, const char *format,
                                      const char *name, const char *key, const char *value) {
  memset(schema, 0, sizeof *schema);
  schema->release = omen_c_release_schema;
  schema->format = format;
  schema->flags = ARROW_FLAG_NULLABLE;
  schema->name = omen_c_copy(name);
  const bool has_meta = value != NULL && *value != '\0';
  if (has_meta) schema->metadata = omen_c_one_meta(key, value);
  return schema->name != NULL && (!has_meta || schema->metadata != NULL);
}

static inline const char *omen_c_format(int type) {
  return type == OMEN_C_NUMBER  ? "g"
         : type == OMEN_C_INT64 ? "l"
         : type == OMEN_C_INT32 ? "i"
         : type == OMEN_C_BOOL  ? "b"
                                : "u";
}

static inline bool omen_c_fill_schema(const omen_c_table *table, struct ArrowSchema *out) {
  if (!omen_c_make_schema(out, "+s", "", OMEN_META_DIALECT, table->dialect)) return false;
  out->children = (struct ArrowSchema **)calloc(table->count + 1, sizeof *out->children);
  if (out->children == NULL) return false;
  for (size_t c = 0; c < table->count; ++c, ++out->n_children) {
    const omen_c_column *column = &table->columns[c];
    out->children[c] = (struct ArrowSchema *)calloc(1, sizeof **out->children);
    if (out->children[c] == NULL) return false;
    if (!omen_c_make_schema(out->children[c], omen_c_format(column->type), column->name,
                            OMEN_META_UNIT, column->unit)) {
      ++out->n_children; /* released with the others */
      return false;
    }
  }
  return true;
}

static inline void omen_c_set_bit(void *bits, int64_t at) {
  ((uint8_t *)bits)[at >> 3] = (uint8_t)(((uint8_t *)bits)[at >> 3] | 1U << (at & 7));
}

static inline bool omen_c_has_value(const omen_c_column *column, int64_t row) {
  if (column->type == OMEN_C_NUMBER) return column->numbers[row] == column->numbers[row];
  return column->type != OMEN_C_TEXT || column->texts[row] != NULL;
}

/* Offsets and bytes of a text column; false: out of memory. */
static inline bool omen_c_fill_texts(const omen_c_column *column, int64_t rows,
                                     struct ArrowArray *out) {
  size_t total = 0;
  for (int64_t row = 0; row < rows; ++row)
    total += column->texts[row] != NULL ? strlen(column->texts[row]) : 0;
  int32_t *ends = (int32_t *)calloc((size_t)rows + 1, sizeof *ends);
  char *bytes = (char *)malloc(total + 1);
  out->buffers[1] = ends;
  out->buffers[2] = bytes;
  if (ends == NULL || bytes == NULL || total > INT32_MAX) return false;
  for (int64_t row = 0; row < rows; ++row) {
    const size_t size = column->texts[row] != NULL ? strlen(column->texts[row]) : 0;
    if (size > 0) memcpy(bytes + ends[row], column->texts[row], size);
    ends[row + 1] = ends[row] + (int32_t)size;
  }
  return true;
}

/* The values of a column as Arrow lays them out; false: out of memory. */
static inline bool omen_c_fill_values(const omen_c_column *column, int64_t rows,
                                      struct ArrowArray *out) {
  if (column->type == OMEN_C_TEXT) return omen_c_fill_texts(column, rows, out);
  void *data = calloc((size_t)rows + 1, sizeof(double));
  out->buffers[1] = data;
  for (int64_t row = 0; data != NULL && row < rows; ++row) {
    if (column->type == OMEN_C_NUMBER)
      ((double *)data)[row] = column->numbers[row];
    else if (column->type == OMEN_C_INT64)
      ((int64_t *)data)[row] = column->integers[row];
    else if (column->type == OMEN_C_INT32)
      ((int32_t *)data)[row] = (int32_t)column->integers[row];
    else if (column->integers[row] != 0)
      omen_c_set_bit(data, row);
  }
  return data != NULL;
}

/* An array node with memory for its buffers; false: out of memory, release it all the same. */
static inline bool omen_c_make_array(struct ArrowArray *array, int64_t rows, int64_t buffers) {
  memset(array, 0, sizeof *array);
  array->release = omen_c_release_array;
  array->length = rows;
  array->n_buffers = buffers;
  array->buffers = (const void **)calloc((size_t)buffers, sizeof *array->buffers);
  return array->buffers != NULL;
}

static inline bool omen_c_fill_column(const omen_c_column *column, int64_t rows,
                                      struct ArrowArray *out) {
  if (!omen_c_make_array(out, rows, column->type == OMEN_C_TEXT ? 3 : 2)) return false;
  for (int64_t row = 0; row < rows; ++row) out->null_count += !omen_c_has_value(column, row);
  if (out->null_count > 0) {
    void *known = calloc(((size_t)rows >> 3) + 1, 1);
    out->buffers[0] = known;
    for (int64_t row = 0; known != NULL && row < rows; ++row)
      if (omen_c_has_value(column, row)) omen_c_set_bit(known, row);
    if (known == NULL) return false;
  }
  return omen_c_fill_values(column, rows, out);
}

static inline bool omen_c_fill_array(const omen_c_table *table, struct ArrowArray *out) {
  if (!omen_c_make_array(out, table->rows, 1)) return false;
  out->children = (struct ArrowArray **)calloc(table->count + 1, sizeof *out->children);
  if (out->children == NULL) return false;
  for (size_t c = 0; c < table->count; ++c) {
    out->children[c] = (struct ArrowArray *)calloc(1, sizeof **out->children);
    if (out->children[c] == NULL) return false;
    ++out->n_children;
    if (!omen_c_fill_column(&table->columns[c], table->rows, out->children[c])) return false;
  }
  return true;
}

typedef struct omen_c_stream { /* private_data of a stream */
  omen_c_table table;
  bool sent;
} omen_c_stream;

static inline int omen_c_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  const omen_c_stream *state = (const omen_c_stream *)stream->private_data;
  struct ArrowSchema made;
  const bool filled = omen_c_fill_schema(&state->table, &made);
  if (!filled) omen_c_release_schema(&made);
  if (filled) *out = made;
  return filled ? 0 : ENOMEM;
}

static inline int omen_c_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  omen_c_stream *state = (omen_c_stream *)stream->private_data;
  struct ArrowArray made;
  memset(out, 0, sizeof *out);
  if (state->sent) return 0;
  const bool filled = omen_c_fill_array(&state->table, &made);
  if (!filled) omen_c_release_array(&made);
  if (filled) *out = made;
  state->sent = filled;
  return filled ? 0 : ENOMEM;
}

static inline const char *omen_c_last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "out of memory";
}

static inline void omen_c_release_stream(struct ArrowArrayStream *stream) {
  omen_c_stream *state = (omen_c_stream *)stream->private_data;
  omen_c_free(&state->table);
  free(state);
  stream->release = NULL;
}

/* Hands a table over as a stream, which then owns it; on failure nothing is handed over. */
static inline omen_status omen_c_to_stream(omen_c_table *table, struct ArrowArrayStream *out,
                                           omen_error *error) {
  omen_c_stream *state = (omen_c_stream *)calloc(1, sizeof *state);
  if (state == NULL) return omen_c_no_memory(error);
  state->table = *table;
  memset(table, 0, sizeof *table);
  out->get_schema = omen_c_get_schema;
  out->get_next = omen_c_get_next;
  out->get_last_error = omen_c_last_error;
  out->release = omen_c_release_stream;
  out->private_data = state;
  return OMEN_OK;
}

/* Puts a table into what a front end or a verb writes, and frees it. */
static inline omen_status omen_c_put(const omen_tables_out *out, const char *name,
                                     omen_c_table *table, omen_error *error) {
  struct ArrowArrayStream stream;
  memset(&stream, 0, sizeof stream);
  omen_status status = omen_c_to_stream(table, &stream, error);
  if (status == OMEN_OK) status = out->put(out->data, name, &stream, error);
  omen_c_free(table);
  return status;
}

#endif /* OMEN_TABLE_C_WRITE_H */
