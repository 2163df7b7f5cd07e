/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of table counters by which a profiler says how the command that it ran has ended.
 *
 * A profiler that takes {"command": [...]} gives one of them, on device -1 and at the end of each
 * run. `omen profile` exits as the last run did: with its exit code, or with 128 and the signal, as
 * shells count. Where collect fails, OMEN_NOT_FOUND is exit 127 (no such command) and
 * OMEN_INVALID_ARGUMENT exit 126 (it cannot be run).                                  since 0.1 */
#ifndef OMEN_JOB_METRICS_H
#define OMEN_JOB_METRICS_H

#define OMEN_METRIC_EXIT_CODE "job.exit_code"
#define OMEN_METRIC_SIGNAL "job.signal"

#endif /* OMEN_JOB_METRICS_H */
