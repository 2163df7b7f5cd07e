// SPDX-License-Identifier: Apache-2.0
// A child infers and sends values and outputs back; weights stay where they are.
#include "contained_inference.hpp"

#include <fcntl.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <omen/error.hpp>

namespace omen::onnxgraph {
namespace {

constexpr unsigned kMostSeconds = 60;

void infer(::onnx::ModelProto& model) {
  try {
    constexpr bool kCheckTypes = false, kPropagateData = true;
    const ::onnx::ShapeInferenceOptions options(kCheckTypes, 0, kPropagateData);
    ::onnx::shape_inference::InferShapes(model, ::onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception&) {
    // What was inferred before stands; the rest is reported as unknown.
  }
}

void move_shapes(::onnx::GraphProto& from, ::onnx::GraphProto& to) {
  to.mutable_value_info()->Swap(from.mutable_value_info());
  to.mutable_output()->Swap(from.mutable_output());
}

// Dies quietly: neither handlers of this program nor a core tell of it.
[[noreturn]] void infer_as_child(::onnx::ModelProto& model, int answer) {
  for (const int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    std::signal(fatal, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::alarm(kMostSeconds);
  infer(model);
  ::onnx::GraphProto shapes;
  move_shapes(*model.mutable_graph(), shapes);
  ::_exit(shapes.SerializeToFileDescriptor(answer) ? 0 : 1);
}

bool ended_well(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

[[noreturn]] void throw_no_child() {
  throw Error(OMEN_INTERNAL, std::string("no process to infer shapes in: ") + std::strerror(errno),
              "raise the limits on processes and open files, and try again");
}

}  // namespace

void infer_shapes(::onnx::ModelProto& model) {
  // Made before the fork, where no other thread can be making it.
  ::onnx::OpSchemaRegistry::Instance();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_no_child();
  const pid_t child = ::fork();
  if (child == 0) infer_as_child(model, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    throw_no_child();
  }
  ::onnx::GraphProto shapes;
  const bool read = shapes.ParseFromFileDescriptor(ends[0]);
  ::close(ends[0]);
  if (ended_well(child) && read) move_shapes(shapes, *model.mutable_graph());
}

}  // namespace omen::onnxgraph
