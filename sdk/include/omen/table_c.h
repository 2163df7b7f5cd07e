/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for plugins in plain C: optional, static functions over the Arrow structs of abi.h.
 *
 * A table is read whole into columns of numbers or texts, and made column by column: a function
 * that adds one returns its values to be filled in, zero at first, or NULL where memory ran out.
 * What is not known is NaN among numbers and NULL among texts, both ways. List columns are not
 * read. omen_c_free takes tables that were zeroed, read, made or already handed over. */
#ifndef OMEN_TABLE_C_H
#define OMEN_TABLE_C_H

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "omen/abi.h"
#include "omen/tables.h"

/* Types of columns, as Arrow spells them. */
enum {
  OMEN_C_NUMBER = 'g',
  OMEN_C_INT64 = 'l',
  OMEN_C_INT32 = 'i',
  OMEN_C_BOOL = 'b',
  OMEN_C_TEXT = 'u'
};

typedef struct omen_c_column {
  char *name;
  char *unit; /* "" where it has none */
  int type;
  double *numbers;   /* of numbers; of integers and bools that were read as well */
  int64_t *integers; /* of integers and bools, else NULL */
  char **texts;      /* of text, else NULL */
} omen_c_column;

typedef struct omen_c_table {
  int64_t rows;
  size_t count;
  omen_c_column *columns;
  const char *dialect; /* of table nodes, a literal; NULL: none */
} omen_c_table;

/* --------------------------------------------------------------------------- errors and options */

static inline char *omen_c_copy(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = (char *)malloc(size);
  if (copy != NULL) memcpy(copy, text, size);
  return copy;
}

static inline void omen_c_release_error(omen_error *error) {
  free(error->message);
  free(error->hint);
  error->message = error->hint = NULL;
  error->release = NULL;
}

/* Fills `error` and returns `status`; the hint may be NULL. */
static inline omen_status omen_c_fail(omen_error *error, omen_status status, const char *message,
                                      const char *hint) {
  if (error == NULL || error->struct_size < sizeof *error) return status;
  if (error->release != NULL) error->release(error);
  error->message = omen_c_copy(message);
  error->hint = hint != NULL ? omen_c_copy(hint) : NULL;
  error->details_json = NULL;
  error->release = omen_c_release_error;
  return status;
}

static inline omen_status omen_c_no_memory(omen_error *error) {
  return omen_c_fail(error, OMEN_OUT_OF_MEMORY, "out of memory", NULL);
}

/* The option of that key; the host gives every one that is declared and has a default. */
static inline const omen_option *omen_c_option(const omen_option *options, size_t count,
                                               const char *key) {
  for (size_t i = 0; i < count; ++i)
    if (strcmp(options[i].key, key) == 0) return &options[i];
  return NULL;
}

static inline bool omen_c_cancelled(const omen_run *run) {
  return run != NULL && run->is_cancelled != NULL && run->is_cancelled(run);
}

/* -------------------------------------------------------------------------------------- columns */

static inline void omen_c_free(omen_c_table *table) {
  for (size_t c = 0; c < table->count; ++c) {
    omen_c_column *column = &table->columns[c];
    for (int64_t row = 0; column->texts != NULL && row < table->rows; ++row)
      free(column->texts[row]);
    free(column->name);
    free(column->unit);
    free(column->numbers);
    free(column->integers);
    free(column->texts);
  }
  free(table->columns);
  memset(table, 0, sizeof *table);
}

/* The column of that name, or NULL. */
static inline const omen_c_column *omen_c_find(const omen_c_table *table, const char *name) {
  for (size_t c = 0; c < table->count; ++c)
    if (strcmp(table->columns[c].name, name) == 0) return &table->columns[c];
  return NULL;
}

/* An empty column at the end, or NULL. */
static inline omen_c_column *omen_c_append(omen_c_table *table, const char *name, const char *unit,
                                           int type) {
  omen_c_column *columns = (omen_c_column *)realloc(
      table->columns, (table->count + 1) * sizeof *columns); /* NOLINT: freed by omen_c_free */
  if (columns == NULL) return NULL;
  table->columns = columns;
  omen_c_column *column = &columns[table->count];
  memset(column, 0, sizeof *column);
  column->name = omen_c_copy(name);
  column->unit = omen_c_copy(unit);
  column->type = type;
  ++table->count;
  return column->name != NULL && column->unit != NULL ? column : NULL;
}

/* A table of `rows` rows without columns. */
static inline omen_c_table omen_c_make(int64_t rows) {
  omen_c_table table;
  memset(&table, 0, sizeof table);
  table.rows = rows;
  return table;
}

static inline double *omen_c_add_numbers(omen_c_table *table, const char *name, const char *unit) {
  omen_c_column *column = omen_c_append(table, name, unit, OMEN_C_NUMBER);
  if (column != NULL)
    column->numbers = (double *)calloc((size_t)table->rows + 1, sizeof *column->numbers);
  return column != NULL ? column->numbers : NULL;
}

/* `type` is OMEN_C_INT64, OMEN_C_INT32 or OMEN_C_BOOL. */
static inline int64_t *omen_c_add_integers(omen_c_table *table, const char *name, int type) {
  omen_c_column *column = omen_c_append(table, name, "", type);
  if (column != NULL)
    column->integers = (int64_t *)calloc((size_t)table->rows + 1, sizeof *column->integers);
  return column != NULL ? column->integers : NULL;
}

/* Fill it with omen_c_copy; the table frees what it holds. */
static inline char **omen_c_add_texts(omen_c_table *table, const char *name) {
  omen_c_column *column = omen_c_append(table, name, "", OMEN_C_TEXT);
  if (column != NULL)
    column->texts = (char **)calloc((size_t)table->rows + 1, sizeof *column->texts);
  return column != NULL ? column->texts : NULL;
}

/* One text in every row. */
static inline bool omen_c_add_same_text(omen_c_table *table, const char *name, const char *text) {
  char **texts = omen_c_add_texts(table, name);
  for (int64_t row = 0; texts != NULL && row < table->rows; ++row)
    if ((texts[row] = omen_c_copy(text)) == NULL) return false;
  return texts != NULL;
}

/* The same integers under the same name, such as workload_id. */
static inline bool omen_c_copy_integers(omen_c_table *to, const omen_c_column *from) {
  int64_t *values = omen_c_add_integers(to, from->name, from->type);
  if (values != NULL) memcpy(values, from->integers, (size_t)to->rows * sizeof *values);
  return values != NULL;
}

/* -------------------------------------------------------------------------------------- reading */

static inline bool omen_c_bit(const void *bits, int64_t at) {
  return (((const uint8_t *)bits)[at >> 3] >> (at & 7) & 1) != 0;
}

static inline bool omen_c_is_known(const struct ArrowArray *array, int64_t at) {
  return array->null_count == 0 || array->buffers[0] == NULL || omen_c_bit(array->buffers[0], at);
}

/* The value of one key in Arrow metadata: counts and lengths are 32-bit, texts follow. */
static inline char *omen_c_meta(const char *at, const char *key) {
  int32_t pairs = 0, size = 0;
  if (at != NULL) memcpy(&pairs, at, sizeof pairs), at += sizeof pairs;
  for (int32_t i = 0; i < pairs; ++i) {
    memcpy(&size, at, sizeof size);
    const bool found =
        (size_t)size == strlen(key) && memcmp(at + sizeof size, key, (size_t)size) == 0;
    at += (int32_t)sizeof size + size;
    memcpy(&size, at, sizeof size);
    at += sizeof size;
    if (found) {
      char *value = (char *)calloc((size_t)size + 1, 1);
      if (value != NULL) memcpy(value, at, (size_t)size);
      return value;
    }
    at += size;
  }
  return omen_c_copy("");
}

/* Type of a column in memory; 0: not read. */
static inline int omen_c_type_of(const struct ArrowSchema *schema) {
  if (schema->dictionary != NULL) return OMEN_C_TEXT;
  if (schema->format[1] != '\0') return 0;
  if (strchr("fg", schema->format[0]) != NULL) return OMEN_C_NUMBER;
  if (strchr("cCsSiIlLb", schema->format[0]) != NULL) return OMEN_C_INT64;
  return schema->format[0] == 'u' ? OMEN_C_TEXT : 0;
}

static inline int64_t omen_c_integer_at(const struct ArrowArray *array, char format, int64_t at) {
  const void *data = array->buffers[1];
  switch (format) {
    case 'b':
      return omen_c_bit(data, at);
    case 'c':
      return ((const int8_t *)data)[at];
    case 'C':
      return ((const uint8_t *)data)[at];
    case 's':
      return ((const int16_t *)data)[at];
    case 'S':
      return ((const uint16_t *)data)[at];
    case 'i':
      return ((const int32_t *)data)[at];
    case 'I':
      return ((const uint32_t *)data)[at];
    default:
      return ((const int64_t *)data)[at];
  }
}

static inline char *omen_c_text_at(const struct ArrowArray *array, int64_t at) {
  if (array->dictionary != NULL) {
    at = ((const int32_t *)array->buffers[1])[at] + array->dictionary->offset;
    array = array->dictionary;
  }
  const int32_t *ends = (const int32_t *)array->buffers[1];
  const size_t size = (size_t)(ends[at + 1] - ends[at]);
  char *text = (char *)calloc(size + 1, 1);
  if (text != NULL && size > 0) memcpy(text, (const char *)array->buffers[2] + ends[at], size);
  return text;
}

/* Makes room for the rows of a batch; false: out of memory. */
static inline bool omen_c_grow(omen_c_column *column, int64_t rows, int64_t more) {
  const size_t all = (size_t)(rows + more) + 1;
  if (column->type == OMEN_C_TEXT) {
    char **texts = (char **)realloc(column->texts, all * sizeof *texts); /* NOLINT */
    if (texts == NULL) return false;
    column->texts = texts;
    memset(texts + rows, 0, (size_t)more * sizeof *texts);
    return true;
  }
  double *numbers = (double *)realloc(column->numbers, all * sizeof *numbers); /* NOLINT */
  if (numbers == NULL) return false;
  column->numbers = numbers;
  if (column->type == OMEN_C_NUMBER) return true;
  int64_t *integers = (int64_t *)realloc(column->integers, all * sizeof *integers); /* NOLINT */
  if (integers == NULL) return false;
  column->integers = integers;
  return true;
}

/* Adds the rows of one array to a column that has room for them; false: out of memory. */
static inline bool omen_c_take(omen_c_column *column, int64_t rows, const struct ArrowArray *array,
                               const char *format, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = array->offset + first + i, row = rows + i;
    const bool known = omen_c_is_known(array, at);
    if (column->type == OMEN_C_TEXT) {
      if (known && (column->texts[row] = omen_c_text_at(array, at)) == NULL) return false;
    } else if (column->type == OMEN_C_NUMBER) {
      const void *data = array->buffers[1];
      column->numbers[row] = !known             ? NAN
                             : format[0] == 'f' ? (double)((const float *)data)[at]
                                                : ((const double *)data)[at];
    } else {
      column->integers[row] = known ? omen_c_integer_at(array, format[0], at) : 0;
      column->numbers[row] = known ? (double)column->integers[row] : NAN;
    }
  }
  return true;
}

static inline omen_status omen_c_read_columns(const struct ArrowSchema *schema, omen_c_table *out) {
  for (int64_t c = 0; c < schema->n_children; ++c) {
    const struct ArrowSchema *child = schema->children[c];
    const int type = omen_c_type_of(child);
    if (type == 0) continue;
    char *unit = omen_c_meta(child->metadata, OMEN_META_UNIT);
    const bool added = unit != NULL && omen_c_append(out, child->name, unit, type) != NULL;
    free(unit);
    if (!added || !omen_c_grow(&out->columns[out->count - 1], 0, 0)) return OMEN_OUT_OF_MEMORY;
  }
  return OMEN_OK;
}

static inline omen_status omen_c_read_batch(const struct ArrowSchema *schema,
                                            const struct ArrowArray *batch, omen_c_table *out) {
  size_t column = 0;
  /* Room first, so that every column has the same rows whatever fails afterwards. */
  for (size_t c = 0; c < out->count; ++c)
    if (!omen_c_grow(&out->columns[c], out->rows, batch->length)) return OMEN_OUT_OF_MEMORY;
  const int64_t rows = out->rows;
  out->rows += batch->length;
  for (int64_t c = 0; c < schema->n_children; ++c) {
    if (omen_c_type_of(schema->children[c]) == 0) continue;
    if (!omen_c_take(&out->columns[column++], rows, batch->children[c], schema->children[c]->format,
                     batch->offset, batch->length))
      return OMEN_OUT_OF_MEMORY;
  }
  return OMEN_OK;
}

/* Reads a table of a dataset whole; free it with omen_c_free whatever comes of it. */
static inline omen_status omen_c_read(const omen_dataset *data, const char *name, omen_c_table *out,
                                      omen_error *error) {
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  memset(&stream, 0, sizeof stream);
  memset(&schema, 0, sizeof schema);
  *out = omen_c_make(0);
  omen_status status = data->open(data, name, &stream, error);
  if (status != OMEN_OK) return status;
  if (stream.get_schema(&stream, &schema) != 0) {
    stream.release(&stream);
    return omen_c_fail(error, OMEN_INVALID_DATA, "cannot read the columns of a table", NULL);
  }
  status = omen_c_read_columns(&schema, out);
  while (status == OMEN_OK) {
    struct ArrowArray batch;
    memset(&batch, 0, sizeof batch);
    const int code = stream.get_next(&stream, &batch);
    if (code != 0) status = code == ECANCELED ? OMEN_CANCELLED : OMEN_INVALID_DATA;
    if (code != 0 || batch.release == NULL) break;
    status = omen_c_read_batch(&schema, &batch, out);
    batch.release(&batch);
  }
  schema.release(&schema);
  stream.release(&stream);
  if (status == OMEN_OUT_OF_MEMORY) return omen_c_no_memory(error);
  if (status == OMEN_OK) return OMEN_OK;
  return omen_c_fail(error, status, "cannot read the rows of a table", NULL);
}

#include "omen/table_c_write.h"

#endif /* OMEN_TABLE_C_H */
