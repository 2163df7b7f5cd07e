/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that cross the boundary: names, columns, types and what stands in for a missing one.
 *
 * Rules that hold for every table:
 *  - Further columns are welcome and keep their place; a reader ignores what it does not know.
 *  - workload_id joins all tables, graph_id joins `workloads`, `nodes` and `edges`.
 *  - A null is not a zero: it says that nothing is known.
 *  - Units stand in the column metadata OMEN_META_UNIT, never in the values.
 *
 * Types: int32, int64, float64 and bool as in Arrow; `text` is utf8 or a dictionary of utf8 with
 * int32 codes; `number` is any integer or floating type; `list` is a fixed-size list of float32;
 * `target` is float64 for a number, a dictionary for a class. Names in angle brackets stand for
 * the targets of the task and their classes.
 *
 * omen/tables.hpp has the same as C++ constants, sdk/docs/tables.md as a page; a test compares all
 * three, and `omen verify` demands what is required here.                              since 0.1 */
#ifndef OMEN_TABLES_H
#define OMEN_TABLES_H

/* --------------------------------------------------------------------------------------- tables */

#define OMEN_TABLE_WORKLOADS "workloads"             /* what a cost is asked for */
#define OMEN_TABLE_NODES "nodes"                     /* nodes of the graphs of workloads */
#define OMEN_TABLE_EDGES "edges"                     /* edges between them */
#define OMEN_TABLE_NODE_FEATURES "node_features"     /* marks on nodes, by workload */
#define OMEN_TABLE_COUNTERS "counters"               /* what was measured over time */
#define OMEN_TABLE_CANDIDATES "candidates"           /* what can be chosen for a workload */
#define OMEN_TABLE_PREDICTIONS "predictions"         /* answers of a predictor */
#define OMEN_TABLE_SCORES "scores"                   /* answers of a scorer */
#define OMEN_TABLE_TARGETS "targets"                 /* measured costs of workloads */
#define OMEN_TABLE_NODE_TARGETS "node_targets"       /* measured values of nodes */
#define OMEN_TABLE_CANDIDATE_COSTS "candidate_costs" /* measured costs of candidates */

/* X(table, meaning): every table, in the order of the page. */
#define OMEN_TABLES(X)                                                                 \
  X(OMEN_TABLE_WORKLOADS, "what a cost is asked for, a row each")                      \
  X(OMEN_TABLE_NODES, "nodes of graphs; the metadata `omen.dialect` names their kind") \
  X(OMEN_TABLE_EDGES, "edges between nodes of one graph")                              \
  X(OMEN_TABLE_NODE_FEATURES, "marks on nodes that differ between workloads")          \
  X(OMEN_TABLE_COUNTERS, "what a profiler measured")                                   \
  X(OMEN_TABLE_CANDIDATES, "what can be chosen for a workload")                        \
  X(OMEN_TABLE_PREDICTIONS, "answers of a predictor, a row for each workload")         \
  X(OMEN_TABLE_SCORES, "answers of a scorer, a row for each candidate")                \
  X(OMEN_TABLE_TARGETS, "measured costs; seen by fit only")                            \
  X(OMEN_TABLE_NODE_TARGETS, "measured values of nodes; seen by fit only")             \
  X(OMEN_TABLE_CANDIDATE_COSTS, "measured costs of candidates; never seen by a component")

/* X(table): tables that hold answers. predict, score and lower cannot open them. */
#define OMEN_WITHHELD_TABLES(X) \
  X(OMEN_TABLE_TARGETS)         \
  X(OMEN_TABLE_NODE_TARGETS)    \
  X(OMEN_TABLE_CANDIDATE_COSTS)

/* -------------------------------------------------------------------------------------- columns */

#define OMEN_COLUMN_WORKLOAD_ID "workload_id"
#define OMEN_COLUMN_CANDIDATE_ID "candidate_id"
#define OMEN_COLUMN_GRAPH_ID "graph_id"
#define OMEN_COLUMN_NODE_ID "node_id"
#define OMEN_COLUMN_GROUP "group"
#define OMEN_COLUMN_NAME "name"
#define OMEN_COLUMN_OP "op"
#define OMEN_COLUMN_FEAT "feat"
#define OMEN_COLUMN_SRC "src"
#define OMEN_COLUMN_DST "dst"
#define OMEN_COLUMN_KIND "kind"
#define OMEN_COLUMN_POSITION "position"
#define OMEN_COLUMN_T_NS "t_ns"
#define OMEN_COLUMN_DEVICE "device"
#define OMEN_COLUMN_METRIC "metric"
#define OMEN_COLUMN_VALUE "value"
#define OMEN_COLUMN_PID "pid"
#define OMEN_COLUMN_STATUS "status"
#define OMEN_COLUMN_SCORE "score"
#define OMEN_COLUMN_RANK "rank"
#define OMEN_COLUMN_FEASIBLE "feasible"
#define OMEN_COLUMN_REASON "reason"

/* What a column is to those who write and read it. */
#define OMEN_REQUIRED "required"   /* who writes the table writes it; a reader finds it */
#define OMEN_COMPLETED "completed" /* where left out, the host adds the default; always found */
#define OMEN_OPTIONAL "optional"   /* where left out, a reader takes the default */

/* X(table, column, type, presence, default, meaning): every column, table by table.    since 0.1 */
#define OMEN_TABLE_COLUMNS(X)                                                                     \
  X(OMEN_TABLE_WORKLOADS, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_COMPLETED, "0, 1, 2 ...",        \
    "ascending, unique")                                                                          \
  X(OMEN_TABLE_WORKLOADS, OMEN_COLUMN_GROUP, "text", OMEN_COMPLETED, "a group for each row",      \
    "rows that belong together are never split between folds")                                    \
  X(OMEN_TABLE_WORKLOADS, OMEN_COLUMN_NAME, "text", OMEN_OPTIONAL, "none", "for people")          \
  X(OMEN_TABLE_WORKLOADS, OMEN_COLUMN_GRAPH_ID, "int64", OMEN_OPTIONAL, "workload_id",            \
    "its graph; several are graph_id.0, graph_id.1 ...")                                          \
  X(OMEN_TABLE_WORKLOADS, "<feature>", "any", OMEN_OPTIONAL, "none", "what describes a workload") \
  X(OMEN_TABLE_NODES, OMEN_COLUMN_GRAPH_ID, "int64", OMEN_REQUIRED, "none", "ascending")          \
  X(OMEN_TABLE_NODES, OMEN_COLUMN_NODE_ID, "int32", OMEN_REQUIRED, "none",                        \
    "0, 1, 2 ... within its graph")                                                               \
  X(OMEN_TABLE_NODES, OMEN_COLUMN_OP, "text", OMEN_REQUIRED, "none", "what the node does")        \
  X(OMEN_TABLE_NODES, OMEN_COLUMN_FEAT, "list", OMEN_OPTIONAL, "none", "features of the node")    \
  X(OMEN_TABLE_EDGES, OMEN_COLUMN_GRAPH_ID, "int64", OMEN_REQUIRED, "none", "as in nodes")        \
  X(OMEN_TABLE_EDGES, OMEN_COLUMN_SRC, "int32", OMEN_REQUIRED, "none", "node_id it leaves")       \
  X(OMEN_TABLE_EDGES, OMEN_COLUMN_DST, "int32", OMEN_REQUIRED, "none", "node_id it reaches")      \
  X(OMEN_TABLE_EDGES, OMEN_COLUMN_KIND, "text", OMEN_OPTIONAL, "data", "data, control, call ...") \
  X(OMEN_TABLE_EDGES, OMEN_COLUMN_POSITION, "int32", OMEN_OPTIONAL, "0",                          \
    "number of the operand or successor")                                                         \
  X(OMEN_TABLE_NODE_FEATURES, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_REQUIRED, "none",            \
    "as in workloads")                                                                            \
  X(OMEN_TABLE_NODE_FEATURES, OMEN_COLUMN_NODE_ID, "int32", OMEN_REQUIRED, "none", "as in nodes") \
  X(OMEN_TABLE_NODE_FEATURES, "<feature>", "any", OMEN_OPTIONAL, "none", "such as root")          \
  X(OMEN_TABLE_COUNTERS, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_REQUIRED, "none",                 \
    "as in workloads; the repetition of a recording")                                             \
  X(OMEN_TABLE_COUNTERS, OMEN_COLUMN_T_NS, "int64", OMEN_OPTIONAL, "none",                        \
    "ns since the workload started")                                                              \
  X(OMEN_TABLE_COUNTERS, OMEN_COLUMN_DEVICE, "int32", OMEN_OPTIONAL, "-1",                        \
    "number within its family; -1: the whole machine")                                            \
  X(OMEN_TABLE_COUNTERS, OMEN_COLUMN_METRIC, "text", OMEN_REQUIRED, "none",                       \
    "what was measured, with its unit")                                                           \
  X(OMEN_TABLE_COUNTERS, OMEN_COLUMN_VALUE, "number", OMEN_REQUIRED, "none",                      \
    "finite; what cannot be read has no row")                                                     \
  X(OMEN_TABLE_COUNTERS, OMEN_COLUMN_PID, "int32", OMEN_OPTIONAL, "0", "0: of no single process") \
  X(OMEN_TABLE_CANDIDATES, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_COMPLETED, "every workload",    \
    "as in workloads")                                                                            \
  X(OMEN_TABLE_CANDIDATES, OMEN_COLUMN_CANDIDATE_ID, "int32", OMEN_COMPLETED, "0, 1, 2 ...",      \
    "unique within its workload")                                                                 \
  X(OMEN_TABLE_CANDIDATES, OMEN_COLUMN_NAME, "text", OMEN_OPTIONAL, "none", "for people")         \
  X(OMEN_TABLE_CANDIDATES, "<feature>", "any", OMEN_OPTIONAL, "none", "what describes the choice") \
  X(OMEN_TABLE_PREDICTIONS, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_REQUIRED, "none",              \
    "each once, in any order")                                                                    \
  X(OMEN_TABLE_PREDICTIONS, OMEN_COLUMN_CANDIDATE_ID, "int32", OMEN_OPTIONAL, "none",             \
    "where the input has candidates: a row for each pair")                                        \
  X(OMEN_TABLE_PREDICTIONS, OMEN_COLUMN_NODE_ID, "int32", OMEN_OPTIONAL, "none",                  \
    "in a task on nodes: a row for each node")                                                    \
  X(OMEN_TABLE_PREDICTIONS, "<target>", "target", OMEN_REQUIRED, "none", "the answer")            \
  X(OMEN_TABLE_PREDICTIONS, "<target>.lo", "float64", OMEN_OPTIONAL, "none",                      \
    "lower end of the interval")                                                                  \
  X(OMEN_TABLE_PREDICTIONS, "<target>.hi", "float64", OMEN_OPTIONAL, "none", "its upper end")     \
  X(OMEN_TABLE_PREDICTIONS, "<target>.p.<class>", "float64", OMEN_OPTIONAL, "none",               \
    "probability of a class")                                                                     \
  X(OMEN_TABLE_PREDICTIONS, OMEN_COLUMN_STATUS, "text", OMEN_COMPLETED, "ok",                     \
    "ok, extrapolating, or why there is no answer")                                               \
  X(OMEN_TABLE_SCORES, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_REQUIRED, "none",                   \
    "as in candidates")                                                                           \
  X(OMEN_TABLE_SCORES, OMEN_COLUMN_CANDIDATE_ID, "int32", OMEN_REQUIRED, "none",                  \
    "as in candidates, each once")                                                                \
  X(OMEN_TABLE_SCORES, OMEN_COLUMN_SCORE, "float64", OMEN_REQUIRED, "none",                       \
    "finite; higher is better")                                                                   \
  X(OMEN_TABLE_SCORES, OMEN_COLUMN_RANK, "int32", OMEN_REQUIRED, "none",                          \
    "unique within its workload; the best is first")                                              \
  X(OMEN_TABLE_SCORES, OMEN_COLUMN_FEASIBLE, "bool", OMEN_REQUIRED, "none", "may be chosen")      \
  X(OMEN_TABLE_SCORES, OMEN_COLUMN_REASON, "text", OMEN_REQUIRED, "none",                         \
    "why this rank; never empty where infeasible")                                                \
  X(OMEN_TABLE_TARGETS, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_REQUIRED, "none",                  \
    "as in workloads")                                                                            \
  X(OMEN_TABLE_TARGETS, OMEN_COLUMN_CANDIDATE_ID, "int32", OMEN_OPTIONAL, "none",                 \
    "where costs are those of candidates")                                                        \
  X(OMEN_TABLE_TARGETS, "<target>", "target", OMEN_REQUIRED, "none", "null: not measured")        \
  X(OMEN_TABLE_NODE_TARGETS, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_REQUIRED, "none",             \
    "as in workloads")                                                                            \
  X(OMEN_TABLE_NODE_TARGETS, OMEN_COLUMN_NODE_ID, "int32", OMEN_REQUIRED, "none", "as in nodes")  \
  X(OMEN_TABLE_NODE_TARGETS, "<target>", "target", OMEN_REQUIRED, "none", "null: not measured")   \
  X(OMEN_TABLE_CANDIDATE_COSTS, OMEN_COLUMN_WORKLOAD_ID, "int64", OMEN_REQUIRED, "none",          \
    "as in candidates")                                                                           \
  X(OMEN_TABLE_CANDIDATE_COSTS, OMEN_COLUMN_CANDIDATE_ID, "int32", OMEN_REQUIRED, "none",         \
    "as in candidates")                                                                           \
  X(OMEN_TABLE_CANDIDATE_COSTS, "<target>", "float64", OMEN_REQUIRED, "none", "true cost")

/* ------------------------------------------------------------------------------------- metadata */

#define OMEN_META_DIALECT "omen.dialect"     /* of table nodes: "ops/1", "programl/1" */
#define OMEN_META_UNIT "omen.unit"           /* of a column: "ms", "J", "1" */
#define OMEN_META_DIRECTION "omen.direction" /* of a target: which is better */
#define OMEN_META_CLASSES "omen.classes"     /* of a class target: JSON array of its labels */
/* Of a predicted column: how it came about, one of the words below, and behind a colon the name of
 * the profile that it was measured or simulated with: "simulated:eyeriss", "estimated".          */
#define OMEN_META_METHOD "omen.method"
#define OMEN_METHOD_SIMULATED "simulated"
#define OMEN_METHOD_ESTIMATED "estimated"
#define OMEN_METHOD_MEASURED "measured"

/* Values of OMEN_META_DIRECTION and of OMEN_COLUMN_STATUS that have a meaning of their own. */
#define OMEN_DIRECTION_LOWER "lower"
#define OMEN_DIRECTION_HIGHER "higher"
#define OMEN_STATUS_OK "ok"
#define OMEN_STATUS_EXTRAPOLATING "extrapolating"

#endif /* OMEN_TABLES_H */
