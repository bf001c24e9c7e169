// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The doctor's advice, for machines that the test does not have.
#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <doctor/advice.hpp>
#include <map>

using tessera::doctor::Host;

namespace {

std::vector<std::string> advise(const Host& host, const std::map<std::string, std::string>& variables = {}) {
  return tessera::doctor::advise(host, [&](std::string_view name) {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::string() : found->second;
  });
}

bool says(const std::vector<std::string>& advice, const std::string& text) {
  return std::ranges::any_of(advice, [&](const std::string& a) { return a.find(text) != std::string::npos; });
}

Host cores(int n) {
  Host host;
  host.cores = host.threads = host.pool = n;
  return host;
}

}  // namespace

TEST_CASE("a machine that is used well gets no advice", "[doctor]") {
  CHECK(advise(cores(1)).empty());
  CHECK(advise(cores(64)).empty());
  Host bound = cores(64);
  bound.numa_domains = 8;
  CHECK(advise(bound, {{"OMP_PROC_BIND", "spread"}}).empty());
  Host shared = cores(64);  // 8 ranks of 8 threads
  shared.ranks_on_node = 8;
  shared.pool = 8;
  CHECK(advise(shared, {{"OMP_NUM_THREADS", "8"}}).empty());
}

TEST_CASE("too many and too few threads are told with the right number", "[doctor]") {
  Host many = cores(8);
  many.pool = 32;
  CHECK(says(advise(many), "OMP_NUM_THREADS=8"));
  Host twice = cores(8);
  twice.threads = twice.pool = 16;
  CHECK(says(advise(twice), "both hardware threads of a core"));
  Host few = cores(8);
  few.pool = 2;
  CHECK(says(advise(few), "2 of 8 cores"));
  CHECK(advise(few, {{"OMP_NUM_THREADS", "2"}}).empty());  // asked for
  few.device = true;                                       // the work is elsewhere
  CHECK(advise(few).empty());
  Host ranks = cores(8);
  ranks.ranks_on_node = 4;
  CHECK(says(advise(ranks), "4 ranks of 8 threads share 8 hardware threads. Set OMP_NUM_THREADS=2"));
}

TEST_CASE("what costs speed unseen is told", "[doctor]") {
  Host numa = cores(64);
  numa.numa_domains = 4;
  CHECK(says(advise(numa), "OMP_PROC_BIND=spread and OMP_PLACES=cores"));
  CHECK(says(advise(cores(2), {{"CUDA_LAUNCH_BLOCKING", "1"}}), "every launch wait"));
  CHECK(advise(cores(2), {{"CUDA_LAUNCH_BLOCKING", "0"}}).empty());
  CHECK(says(advise(cores(2), {{"TESSERA_GEMM", "portable"}}), "TESSERA_GEMM=portable forces a path"));
  CHECK(says(advise(cores(2), {{"OPENBLAS_CORETYPE", "Haswell"}}), "OPENBLAS_CORETYPE=Haswell forces"));
  Host general = cores(2);
  general.optimised = false;
  CHECK(says(advise(general), "TESSERA_HOST_ARCH=native"));
  Host debug = cores(2);
  debug.debug_build = true;
  CHECK(says(advise(debug), "Debug build"));
}
