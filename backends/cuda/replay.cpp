// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_runtime_api.h>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

/// \file
/// Calls as a captured graph, so that a slow host's launches are not what is timed.

namespace tessera::peers {
namespace {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw Error("tessera::peers::capture", std::string(what) + ": " + cudaGetErrorString(status),
                "the call must succeed");
}

/// Whether a copy from or to there depends on what the host has there when a replay runs.
bool of_host(const void* pointer) {
  cudaPointerAttributes attributes = {};
  if (pointer == nullptr || cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return true;
  }
  return attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeUnregistered;
}

/// Why replays of a node would not be the calls again.
const char* objection(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeCount;
  check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
  switch (type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
      return nullptr;
    case cudaGraphNodeTypeMemcpy: {
      cudaMemcpy3DParms copy = {};
      check(cudaGraphMemcpyNodeGetParams(node, &copy), "cudaGraphMemcpyNodeGetParams");
      const bool device = (copy.srcArray != nullptr || !of_host(copy.srcPtr.ptr)) &&
                          (copy.dstArray != nullptr || !of_host(copy.dstPtr.ptr));
      return device ? nullptr : "it copies from or to the host's memory";
    }
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
      return "it allocates";
    case cudaGraphNodeTypeHost:
      return "it calls the host";
    default:
      return "it holds work other than kernels, fills and copies";
  }
}

/// A line of its own in reports: the first one.
std::string first_line(const char* text) {
  const std::string all(text);
  return all.substr(0, all.find('\n'));
}

struct GraphEnd {
  void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, GraphEnd>;

/// What was captured; nothing, and why, where that failed. The stream captures no more in any case.
Graph captured(cudaStream_t stream, const std::function<void()>& enqueue, std::string& refusal) {
  // this thread's calls alone: what would spoil a replay, an allocation say, is refused by the runtime itself
  if (const cudaError_t status = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
      status != cudaSuccess) {
    refusal = cudaGetErrorString(status);
    return nullptr;
  }
  try {
    enqueue();
  } catch (const std::exception& error) {
    refusal = first_line(error.what());
    if (refusal.empty()) refusal = "unknown error";
  } catch (...) {
    refusal = "unknown error";
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  Graph owned(graph);
  if (refusal.empty() && (ended != cudaSuccess || graph == nullptr)) refusal = cudaGetErrorString(ended);
  if (!refusal.empty()) owned.reset();
  return owned;
}

}  // namespace

Replay capture(const Queue& queue, const std::function<void()>& enqueue) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  check(cudaStreamSynchronize(stream), "the work before a capture");
  Replay replay;
  const auto refused = [&](const std::string& why) {
    replay.refusal = why;
    (void)cudaGetLastError();  // it has been told, and must not be found by the next call that looks
    check(cudaStreamSynchronize(stream), "the stream after a capture that failed");
    return replay;
  };
  std::string refusal;
  const Graph graph = captured(stream, enqueue, refusal);
  if (graph == nullptr) return refused(refusal);
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph.get(), nullptr, &count), "cudaGraphGetNodes");
  std::vector<cudaGraphNode_t> nodes(count);
  check(cudaGraphGetNodes(graph.get(), nodes.data(), &count), "cudaGraphGetNodes");
  if (count == 0) return refused("nothing of it went to the stream given");
  for (const cudaGraphNode_t node : nodes)
    if (const char* const why = objection(node)) return refused(why);
  cudaGraphExec_t executable = nullptr;
  if (const cudaError_t status = cudaGraphInstantiate(&executable, graph.get(), 0); status != cudaSuccess)
    return refused(std::string("its graph: ") + cudaGetErrorString(status));
  const std::shared_ptr<std::remove_pointer_t<cudaGraphExec_t>> owned(
      executable, [](cudaGraphExec_t e) { (void)cudaGraphExecDestroy(e); });
  if (const cudaError_t status = cudaGraphUpload(executable, stream); status != cudaSuccess)
    return refused(std::string("its graph: ") + cudaGetErrorString(status));
  check(cudaStreamSynchronize(stream), "cudaGraphUpload");
  replay.nodes = count;
  replay.launch = [owned, stream] { check(cudaGraphLaunch(owned.get(), stream), "cudaGraphLaunch"); };
  return replay;
}

}  // namespace tessera::peers
