// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "peer.hpp"
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// Calls as a captured graph, so that a slow host's launches are not what is timed.

namespace tessera::peers {
namespace {

/// Whether a copy from or to there depends on what the host has there when a replay runs.
bool of_host(const void* pointer) {
  hipPointerAttribute_t attributes = {};
  if (pointer == nullptr || hipPointerGetAttributes(&attributes, pointer) != hipSuccess) {
    (void)hipGetLastError();
    return true;
  }
  return attributes.type == hipMemoryTypeHost || attributes.type == hipMemoryTypeUnregistered;
}

/// Why replays of a node would not be the calls again.
const char* objection(hipGraphNode_t node) {
  hipGraphNodeType type = hipGraphNodeTypeCount;
  check(hipGraphNodeGetType(node, &type), "hipGraphNodeGetType");
  switch (type) {
    case hipGraphNodeTypeKernel:
    case hipGraphNodeTypeMemset:
    case hipGraphNodeTypeEmpty:
    case hipGraphNodeTypeWaitEvent:
    case hipGraphNodeTypeEventRecord:
      return nullptr;
    case hipGraphNodeTypeMemcpy: {
      hipMemcpy3DParms copy = {};
      check(hipGraphMemcpyNodeGetParams(node, &copy), "hipGraphMemcpyNodeGetParams");
      const bool device = (copy.srcArray != nullptr || !of_host(copy.srcPtr.ptr)) &&
                          (copy.dstArray != nullptr || !of_host(copy.dstPtr.ptr));
      return device ? nullptr : "it copies from or to the host's memory";
    }
    case hipGraphNodeTypeMemAlloc:
    case hipGraphNodeTypeMemFree:
      return "it allocates";
    case hipGraphNodeTypeHost:
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
  void operator()(hipGraph_t graph) const { (void)hipGraphDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<hipGraph_t>, GraphEnd>;

/// What was captured; nothing, and why, where that failed. The stream captures no more in any case.
Graph captured(hipStream_t stream, const std::function<void()>& enqueue, std::string& refusal) {
  // this thread's calls alone: what would spoil a replay, an allocation say, is refused by the runtime itself
  if (const hipError_t status = hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal); status != hipSuccess) {
    refusal = hipGetErrorString(status);
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
  hipGraph_t graph = nullptr;
  const hipError_t ended = hipStreamEndCapture(stream, &graph);
  // Kokkos hands large functors over in one buffer, guarded by an event, and nobody may wait for an event that was last
  // recorded in a capture. An instance that ends on the stream clears the guard.
  {
    const Kokkos::HIP cleared(stream);
  }
  Graph owned(graph);
  if (refusal.empty() && (ended != hipSuccess || graph == nullptr)) refusal = hipGetErrorString(ended);
  if (!refusal.empty()) owned.reset();
  return owned;
}

}  // namespace

Replay capture(const Queue& queue, const std::function<void()>& enqueue) {
  auto* const stream = stream_of(queue);
  check(hipStreamSynchronize(stream), "the work before a capture");
  Replay replay;
  const auto refused = [&](const std::string& why) {
    replay.refusal = why;
    (void)hipGetLastError();  // it has been told, and must not be found by the next call that looks
    check(hipStreamSynchronize(stream), "the stream after a capture that failed");
    return replay;
  };
  std::string refusal;
  const Graph graph = captured(stream, enqueue, refusal);
  if (graph == nullptr) return refused(refusal);
  std::size_t count = 0;
  check(hipGraphGetNodes(graph.get(), nullptr, &count), "hipGraphGetNodes");
  std::vector<hipGraphNode_t> nodes(count);
  check(hipGraphGetNodes(graph.get(), nodes.data(), &count), "hipGraphGetNodes");
  if (count == 0) return refused("nothing of it went to the stream given");
  for (const hipGraphNode_t node : nodes)
    if (const char* const why = objection(node)) return refused(why);
  hipGraphExec_t executable = nullptr;
  if (const hipError_t status = hipGraphInstantiate(&executable, graph.get(), nullptr, nullptr, 0);
      status != hipSuccess)
    return refused(std::string("its graph: ") + hipGetErrorString(status));
  const std::shared_ptr<std::remove_pointer_t<hipGraphExec_t>> owned(
      executable, [](hipGraphExec_t e) { (void)hipGraphExecDestroy(e); });
  if (const hipError_t status = hipGraphUpload(executable, stream); status != hipSuccess)
    return refused(std::string("its graph: ") + hipGetErrorString(status));
  check(hipStreamSynchronize(stream), "hipGraphUpload");
  replay.nodes = count;
  replay.launch = [owned, stream] { check(hipGraphLaunch(owned.get(), stream), "hipGraphLaunch"); };
  return replay;
}

}  // namespace tessera::peers
