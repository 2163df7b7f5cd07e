/* SPDX-License-Identifier: Apache-2.0 */
/* A predictor in plain C against the frozen header of ABI 0.1; every later host must load and run it.
 *
 * It answers workload_id * scale. FROZEN_MAJOR and FROZEN_MINOR let a build claim another version; FROZEN_INIT_FAILS and
 * FROZEN_EMPTY_SLOT make builds that a host must refuse.
 */
#include <stdlib.h>
#include <string.h>

#include "omen/abi.h"

#ifndef FROZEN_MAJOR
#define FROZEN_MAJOR OMEN_ABI_MAJOR
#endif
#ifndef FROZEN_MINOR
#define FROZEN_MINOR OMEN_ABI_MINOR
#endif
#ifndef FROZEN_INIT_FAILS
#define FROZEN_INIT_FAILS 0
#endif
#ifndef FROZEN_EMPTY_SLOT
#define FROZEN_EMPTY_SLOT 0
#endif

struct omen_object {
  double scale;
};

static char *copy_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (copy) strcpy(copy, text);
  return copy;
}

static void release_error(omen_error *error) {
  free(error->message);
  free(error->hint);
  error->message = error->hint = NULL;
  error->release = NULL;
}

static omen_status fail(omen_error *error, omen_status code, const char *message, const char *hint) {
  if (!error) return code;
  error->message = copy_text(message);
  error->hint = copy_text(hint);
  error->release = release_error;
  return code;
}

/* ------------------------------------------------------------------------------------ the answer as an Arrow stream */

enum { COLUMNS = 3 };

typedef struct {
  int64_t rows;
  int64_t *ids;
  double *costs;
  int32_t *codes;
  bool done;
} answer;

typedef struct {
  struct ArrowSchema nodes[COLUMNS];
  struct ArrowSchema *children[COLUMNS];
  struct ArrowSchema dictionary;
} schema_block;

typedef struct {
  struct ArrowArray nodes[COLUMNS];
  struct ArrowArray *children[COLUMNS];
  struct ArrowArray dictionary;
  const void *none[1];
  const void *buffers[COLUMNS][2];
  const void *text[3];
  answer data;
} array_block;

static const int32_t status_offsets[] = {0, 2};
static const char status_text[] = "ok";

static void release_schema_child(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array_child(struct ArrowArray *array) { array->release = NULL; }

static void release_schema(struct ArrowSchema *schema) {
  free(schema->private_data);
  schema->release = NULL;
}

static void free_answer(answer *data) {
  free(data->ids);
  free(data->costs);
  free(data->codes);
}

static void release_array(struct ArrowArray *array) {
  array_block *block = array->private_data;
  free_answer(&block->data);
  free(block);
  array->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  static const char *const names[COLUMNS] = {"workload_id", "cost_ms", "status"};
  static const char *const formats[COLUMNS] = {"l", "g", "i"};
  (void)stream;
  schema_block *block = calloc(1, sizeof *block);
  if (!block) return 12;
  for (int i = 0; i < COLUMNS; ++i) {
    block->nodes[i].format = formats[i];
    block->nodes[i].name = names[i];
    block->nodes[i].release = release_schema_child;
    block->children[i] = &block->nodes[i];
  }
  block->dictionary.format = "u";
  block->dictionary.name = "";
  block->dictionary.release = release_schema_child;
  block->nodes[2].dictionary = &block->dictionary;
  memset(out, 0, sizeof *out);
  out->format = "+s";
  out->name = "";
  out->n_children = COLUMNS;
  out->children = block->children;
  out->release = release_schema;
  out->private_data = block;
  return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  answer *data = stream->private_data;
  memset(out, 0, sizeof *out);
  if (data->done) return 0;
  array_block *block = calloc(1, sizeof *block);
  if (!block) return 12;
  block->data = *data;
  data->ids = NULL;
  data->costs = NULL;
  data->codes = NULL;
  data->done = true;
  const void *values[COLUMNS] = {block->data.ids, block->data.costs, block->data.codes};
  for (int i = 0; i < COLUMNS; ++i) {
    block->buffers[i][1] = values[i];
    block->nodes[i].length = block->data.rows;
    block->nodes[i].n_buffers = 2;
    block->nodes[i].buffers = block->buffers[i];
    block->nodes[i].release = release_array_child;
    block->children[i] = &block->nodes[i];
  }
  block->text[1] = status_offsets;
  block->text[2] = status_text;
  block->dictionary.length = 1;
  block->dictionary.n_buffers = 3;
  block->dictionary.buffers = block->text;
  block->dictionary.release = release_array_child;
  block->nodes[2].dictionary = &block->dictionary;
  out->length = block->data.rows;
  out->n_buffers = 1;
  out->buffers = block->none;
  out->n_children = COLUMNS;
  out->children = block->children;
  out->release = release_array;
  out->private_data = block;
  return 0;
}

static const char *last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return NULL;
}

static void release_stream(struct ArrowArrayStream *stream) {
  free_answer(stream->private_data);
  free(stream->private_data);
  stream->release = NULL;
}

/* ------------------------------------------------------------------------------------------------- reading workloads */

static int64_t find_column(const struct ArrowSchema *schema, const char *name) {
  for (int64_t i = 0; i < schema->n_children; ++i)
    if (strcmp(schema->children[i]->name, name) == 0 && strcmp(schema->children[i]->format, "l") == 0) return i;
  return -1;
}

static bool append(answer *data, const struct ArrowArray *batch, int64_t column, double scale) {
  const struct ArrowArray *child = batch->children[column];
  const int64_t *ids = (const int64_t *)child->buffers[1] + child->offset + batch->offset;
  const size_t rows = (size_t)(data->rows + batch->length);
  int64_t *all_ids = realloc(data->ids, rows * sizeof *all_ids + 1);
  if (all_ids) data->ids = all_ids;
  double *costs = realloc(data->costs, rows * sizeof *costs + 1);
  if (costs) data->costs = costs;
  int32_t *codes = realloc(data->codes, rows * sizeof *codes + 1);
  if (codes) data->codes = codes;
  if (!all_ids || !costs || !codes) return false;
  for (int64_t i = 0; i < batch->length; ++i, ++data->rows) {
    data->ids[data->rows] = ids[i];
    data->costs[data->rows] = (double)ids[i] * scale;
    data->codes[data->rows] = 0;
  }
  return true;
}

static omen_status read_workloads(const omen_dataset *in, double scale, answer *data, omen_error *error) {
  struct ArrowArrayStream stream;
  memset(&stream, 0, sizeof stream);
  const omen_status opened = in->open(in, "workloads", &stream, error);
  if (opened != OMEN_OK) return opened;
  struct ArrowSchema schema;
  memset(&schema, 0, sizeof schema);
  omen_status status = OMEN_OK;
  int64_t column = -1;
  if (stream.get_schema(&stream, &schema) != 0) status = fail(error, OMEN_INVALID_DATA, "workloads has no schema", "");
  if (status == OMEN_OK && (column = find_column(&schema, "workload_id")) < 0)
    status = fail(error, OMEN_INVALID_DATA, "workloads has no int64 column workload_id", "Add one.");
  while (status == OMEN_OK) {
    struct ArrowArray batch;
    memset(&batch, 0, sizeof batch);
    if (stream.get_next(&stream, &batch) != 0) {
      status = fail(error, OMEN_INVALID_DATA, "workloads broke off", "");
      break;
    }
    if (!batch.release) break;
    if (!append(data, &batch, column, scale)) status = fail(error, OMEN_OUT_OF_MEMORY, "out of memory", "");
    batch.release(&batch);
  }
  if (schema.release) schema.release(&schema);
  stream.release(&stream);
  return status;
}

/* --------------------------------------------------------------------------------------------------------- the slots */

static omen_status create(const omen_option *options, size_t count, omen_object **out, omen_error *error) {
  omen_object *object = calloc(1, sizeof *object);
  if (!object) return fail(error, OMEN_OUT_OF_MEMORY, "out of memory", "");
  for (size_t i = 0; i < count; ++i)
    if (strcmp(options[i].key, "scale") == 0) object->scale = options[i].r;
  *out = object;
  return OMEN_OK;
}

static void destroy(omen_object *object) { free(object); }

static omen_status fit(omen_object *object, const omen_run *run, const omen_dataset *train, const omen_dataset *valid,
                       omen_error *error) {
  (void)object, (void)valid, (void)error;
  if (run->progress) run->progress(run, 1.0, "fit");
  return train->rows(train, "targets") == 0 ? fail(error, OMEN_INVALID_DATA, "no targets", "Give some.") : OMEN_OK;
}

static omen_status predict(omen_object *object, const omen_run *run, const omen_dataset *in, struct ArrowArrayStream *out,
                           omen_error *error) {
  (void)run;
  answer *data = calloc(1, sizeof *data);
  if (!data) return fail(error, OMEN_OUT_OF_MEMORY, "out of memory", "");
  const omen_status status = read_workloads(in, object->scale, data, error);
  if (status != OMEN_OK) {
    free_answer(data);
    free(data);
    return status;
  }
  out->get_schema = get_schema;
  out->get_next = get_next;
  out->get_last_error = last_error;
  out->release = release_stream;
  out->private_data = data;
  return OMEN_OK;
}

static omen_status save(omen_object *object, const omen_sink *sink, omen_error *error) {
  const int64_t shape[] = {1};
  return sink->put_tensor(sink->data, "scale", "F64", shape, 1, &object->scale, sizeof object->scale, error);
}

static omen_status load(omen_object *object, const omen_source *source, omen_error *error) {
  const char *dtype;
  const int64_t *shape;
  const void *bytes;
  size_t rank, size;
  const omen_status status = source->get_tensor(source->data, "scale", &dtype, &shape, &rank, &bytes, &size, error);
  if (status != OMEN_OK) return status;
  if (strcmp(dtype, "F64") != 0 || size != sizeof object->scale)
    return fail(error, OMEN_INVALID_DATA, "tensor 'scale' is not one double", "Train again.");
  memcpy(&object->scale, bytes, size);
  return OMEN_OK;
}

static const omen_predictor_vt predictor_vt = {
    sizeof predictor_vt, 0, create, destroy, fit, predict, FROZEN_EMPTY_SLOT ? NULL : save, load};

static const omen_option_spec scale_spec = {
    sizeof scale_spec, OMEN_OPT_REAL, 0, 0, "scale", "cost of one id", "ms", "2", 0.5, 100, NULL};
static const omen_option_spec *const option_specs[] = {&scale_spec, NULL};
static const char *const reads[] = {"workloads.workload_id", NULL};
static const char *const writes[] = {"cost_ms:ms:lower", NULL};
static const omen_component component = {
    sizeof component, OMEN_PREDICTOR, OMEN_CAP_BITWISE_REPEATABLE, FROZEN_ID ".ids", "multiplies the workload id", NULL,
    reads, writes, option_specs, &predictor_vt};
static const omen_component *const components[] = {&component, NULL};

static omen_status init(const omen_host *host, omen_error *error) {
  if (FROZEN_INIT_FAILS) return fail(error, OMEN_UNAVAILABLE, "no licence for the device", "Ask for one.");
  if (host->abi_major != OMEN_ABI_MAJOR || !host->plugin_dir)
    return fail(error, OMEN_INVALID_ARGUMENT, "host is of another major", "Use its own SDK.");
  if (host->log_enabled(host, OMEN_LOG_DEBUG)) host->log(host, OMEN_LOG_DEBUG, FROZEN_ID ".ids", "started");
  return OMEN_OK;
}

static const omen_plugin plugin = {sizeof plugin, FROZEN_MAJOR, FROZEN_MINOR, 0,    FROZEN_ID, "0.1.0", "Apache-2.0",
                                   NULL,          components,   init,         NULL, NULL};

const omen_plugin *omen_plugin_entry(uint32_t host_major, uint32_t host_minor) {
  (void)host_minor;
  return host_major == OMEN_ABI_MAJOR ? &plugin : NULL;
}
