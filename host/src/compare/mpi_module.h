/* SPDX-License-Identifier: Apache-2.0 */
/* What omen asks of its MPI module: small messages that never wait. */
#ifndef OMEN_HOST_SRC_COMPARE_MPI_MODULE_H
#define OMEN_HOST_SRC_COMPARE_MPI_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OMEN_MPI_VERSION 1u
/* Messages of this size go out at once on every transport, so a receiver never depends on a sender
 * that may have died meanwhile. */
#define OMEN_MPI_LARGEST 3072u

/* All functions are called by the thread that called start. */
typedef struct omen_mpi_module {
  uint32_t version;
  /* 0, or not with a text in `error`. */
  int (*start)(int *rank, int *size, char *error, size_t error_size);
  /* 1 sent, 0 too many are on their way to that rank: try again, -1 failed. The bytes are copied. */
  int (*send)(int to, int tag, const void *bytes, size_t size);
  /* Size of one message in `bytes` (room for OMEN_MPI_LARGEST), -1 where none is waiting. */
  long (*receive)(int *from, int *tag, void *bytes);
  /* Messages that are not yet handed to the transport. */
  size_t (*sending)(void);
  /* Waits for every rank; only where all of them live. */
  void (*finish)(void);
} omen_mpi_module;

/* The module's one export. */
#define OMEN_MPI_ENTRY "omen_mpi_entry"
typedef const omen_mpi_module *(*omen_mpi_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif /* OMEN_HOST_SRC_COMPARE_MPI_MODULE_H */
