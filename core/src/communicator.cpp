// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include <tessera/core/communicator.hpp>
#include <tessera/core/config.hpp>
#include <tessera/core/error.hpp>

#if TESSERA_ENABLE_MPI
#include <mpi.h>
#endif

namespace tessera {
namespace {

constexpr int max_tag = 32767;  // what the MPI standard promises

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

void check_peer(const char* function, int peer, int size, int tag) {
  require(peer >= 0 && peer < size && tag >= 0 && tag <= max_tag, [&] {
    return Error(function, rank_text(peer) + " with tag " + std::to_string(tag),
                 "ranks are 0 to " + std::to_string(size - 1) + " and tags 0 to " + std::to_string(max_tag));
  });
}

[[noreturn]] void length_mismatch(int from, int to, int tag, std::size_t sent, std::size_t expected) {
  throw Error("tessera::Exchange",
              rank_text(from) + " sent " + std::to_string(sent) + " bytes with tag " + std::to_string(tag) + " to " +
                  rank_text(to) + ", which expected " + std::to_string(expected),
              "both sides must name the same length", "Check that both ranks agree on the extents that they share");
}

#if TESSERA_ENABLE_MPI
constexpr std::size_t piece_bytes = std::size_t{1} << 30;  // MPI counts are 32-bit: longer messages go in pieces

void check(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(function, "MPI answered \"" + std::string(text, static_cast<std::size_t>(length)) + "\"",
              "the call must succeed on every rank", "Check that all ranks make the same calls, and the MPI set-up");
}

MPI_Op mpi_op(Reduction op) { return op == Reduction::sum ? MPI_SUM : op == Reduction::min ? MPI_MIN : MPI_MAX; }

bool mpi_runs() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started && !ended;
}

bool checks_collectives() {
  static const bool on = [] {
    const char* value = std::getenv("TESSERA_CHECK_COLLECTIVES");  // NOLINT(concurrency-mt-unsafe): only read
    return value != nullptr && value[0] != '\0' && value[0] != '0';
  }();
  return on;
}
#endif

}  // namespace

struct Communicator::State {
  int rank = 0;
  int size = 1;
#if TESSERA_ENABLE_MPI
  MPI_Comm comm = MPI_COMM_NULL;    // null: this process alone, MPI not needed
  MPI_Comm errors = MPI_COMM_NULL;  // its messages cannot be taken for those of unfinished work

  State() = default;
  explicit State(MPI_Comm parent) {
    check(MPI_Comm_dup(parent, &comm), "tessera::Communicator");
    check(MPI_Comm_dup(parent, &errors), "tessera::Communicator");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(errors, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  ~State() {
    if (comm == MPI_COMM_NULL || !mpi_runs()) return;
    MPI_Comm_free(&errors);
    MPI_Comm_free(&comm);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  [[nodiscard]] bool alone() const { return comm == MPI_COMM_NULL; }
#else
  [[nodiscard]] static bool alone() { return true; }
#endif
};

Communicator::Communicator(std::shared_ptr<State> state) : m_state(std::move(state)) {}

#if TESSERA_ENABLE_MPI
namespace {
std::mutex world_mutex;
}  // namespace
#endif

Communicator Communicator::world() {
#if TESSERA_ENABLE_MPI
  if (mpi_runs()) {
    // kept alive to the end of the process: freed by MPI_Finalize itself
    static std::shared_ptr<State> state;
    const std::scoped_lock lock(world_mutex);
    if (!state) state = std::make_shared<State>(MPI_COMM_WORLD);
    return Communicator(state);
  }
#endif
  return self();
}

Communicator Communicator::self() { return Communicator(std::make_shared<State>()); }

int Communicator::rank() const noexcept { return m_state->rank; }
int Communicator::size() const noexcept { return m_state->size; }

Communicator Communicator::split([[maybe_unused]] int color, [[maybe_unused]] int key) const {
#if TESSERA_ENABLE_MPI
  if (!m_state->alone()) {
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(m_state->comm, color, key, &part), "tessera::Communicator::split");
    auto state = std::make_shared<State>(part);
    MPI_Comm_free(&part);
    return Communicator(state);
  }
#endif
  return self();
}

void Communicator::barrier() const {
#if TESSERA_ENABLE_MPI
  if (!m_state->alone()) check(MPI_Barrier(m_state->comm), "tessera::Communicator::barrier");
#endif
}

#if TESSERA_ENABLE_MPI
namespace {

void reduce_checked(MPI_Comm comm, int rank, void* values, std::size_t count, std::size_t size, MPI_Datatype type,
                    Reduction op) {
  constexpr const char* function = "tessera::Communicator::all_reduce";
  if (checks_collectives()) {
    // the least and the greatest length, by one reduction
    index_t range[2] = {static_cast<index_t>(count), -static_cast<index_t>(count)};
    check(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT64_T, MPI_MAX, comm), function);
    require(range[0] == -range[1], [&] {
      return Error(function,
                   rank_text(rank) + " passes " + std::to_string(count) + " values, and lengths on the ranks go from " +
                       std::to_string(-range[1]) + " to " + std::to_string(range[0]),
                   "every rank must pass the same length");
    });
  }
  const std::size_t piece = piece_bytes / size;
  for (std::size_t done = 0; done < count; done += piece) {
    const int n = static_cast<int>(std::min(piece, count - done));
    check(MPI_Allreduce(MPI_IN_PLACE, static_cast<std::byte*>(values) + done * size, n, type, mpi_op(op), comm),
          function);
  }
}

}  // namespace
#endif

void Communicator::all_reduce([[maybe_unused]] std::span<double> values, [[maybe_unused]] Reduction op) const {
#if TESSERA_ENABLE_MPI
  if (!m_state->alone())
    reduce_checked(m_state->comm, rank(), values.data(), values.size(), sizeof(double), MPI_DOUBLE, op);
#endif
}
void Communicator::all_reduce([[maybe_unused]] std::span<float> values, [[maybe_unused]] Reduction op) const {
#if TESSERA_ENABLE_MPI
  if (!m_state->alone())
    reduce_checked(m_state->comm, rank(), values.data(), values.size(), sizeof(float), MPI_FLOAT, op);
#endif
}
void Communicator::all_reduce([[maybe_unused]] std::span<index_t> values, [[maybe_unused]] Reduction op) const {
#if TESSERA_ENABLE_MPI
  if (!m_state->alone())
    reduce_checked(m_state->comm, rank(), values.data(), values.size(), sizeof(index_t), MPI_INT64_T, op);
#endif
}

void Communicator::broadcast([[maybe_unused]] std::span<std::byte> bytes, int root) const {
  check_peer("tessera::Communicator::broadcast", root, size(), 0);
#if TESSERA_ENABLE_MPI
  if (m_state->alone()) return;
  for (std::size_t done = 0; done < bytes.size(); done += piece_bytes) {
    const int n = static_cast<int>(std::min(piece_bytes, bytes.size() - done));
    check(MPI_Bcast(bytes.data() + done, n, MPI_BYTE, root, m_state->comm), "tessera::Communicator::broadcast");
  }
#endif
}

std::string Communicator::broadcast(std::string text, int root) const {
  index_t length = static_cast<index_t>(text.size());
  broadcast(std::span<index_t>(&length, 1), root);
  text.resize(static_cast<std::size_t>(length));
  broadcast(std::span<char>(text.data(), text.size()), root);
  return text;
}

std::vector<index_t> Communicator::all_gather(index_t value) const {
  std::vector<index_t> all(static_cast<std::size_t>(size()), value);
#if TESSERA_ENABLE_MPI
  if (!m_state->alone())
    check(MPI_Allgather(&value, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, m_state->comm),
          "tessera::Communicator::all_gather");
#endif
  return all;
}

std::vector<double> Communicator::all_gather(double value) const {
  std::vector<double> all(static_cast<std::size_t>(size()), value);
#if TESSERA_ENABLE_MPI
  if (!m_state->alone())
    check(MPI_Allgather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, m_state->comm),
          "tessera::Communicator::all_gather");
#endif
  return all;
}

std::vector<std::vector<std::byte>> Communicator::gather(std::span<const std::byte> bytes, int root) const {
  check_peer("tessera::Communicator::gather", root, size(), 0);
  const std::vector<index_t> lengths = all_gather(static_cast<index_t>(bytes.size()));
  std::vector<std::vector<std::byte>> all;
  Exchange exchange(*this);
  if (rank() == root) {
    all.resize(lengths.size());
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      all[r].resize(static_cast<std::size_t>(lengths[r]));
      exchange.receive(static_cast<int>(r), max_tag, all[r]);
    }
  }
  exchange.send(root, max_tag, bytes);
  exchange.wait();
  return all;
}

void Communicator::send(int to, int tag, std::span<const std::byte> bytes) const {
  require(to != rank(), [&] {
    return Error("tessera::Communicator::send", rank_text(to) + " sends to itself",
                 "a blocking message needs another rank", "Use Exchange for messages to the own rank");
  });
  Exchange exchange(*this);
  exchange.send(to, tag, bytes);
  exchange.wait();
}

void Communicator::receive(int from, int tag, std::span<std::byte> bytes) const {
  require(from != rank(), [&] {
    return Error("tessera::Communicator::receive", rank_text(from) + " receives from itself",
                 "a blocking message needs another rank", "Use Exchange for messages to the own rank");
  });
  Exchange exchange(*this);
  exchange.receive(from, tag, bytes);
  exchange.wait();
}

std::vector<index_t> Communicator::all_gather_within(index_t value,
                                                     [[maybe_unused]] std::chrono::milliseconds limit) const {
#if TESSERA_ENABLE_MPI
  if (!m_state->alone()) {
    // shared with MPI, which may write to it after this function has given up
    struct Buffers {
      index_t mine = 0;
      std::vector<index_t> all;
    };
    auto buffers = std::make_unique<Buffers>();
    buffers->mine = value;
    buffers->all.resize(static_cast<std::size_t>(size()));
    MPI_Request request = MPI_REQUEST_NULL;
    int code =
        MPI_Iallgather(&buffers->mine, 1, MPI_INT64_T, buffers->all.data(), 1, MPI_INT64_T, m_state->errors, &request);
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (code == MPI_SUCCESS) {
      int done = 0;
      code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (code == MPI_SUCCESS && done) return std::move(buffers->all);
      if (std::chrono::steady_clock::now() > deadline) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    (void)buffers.release();  // NOLINT(bugprone-unused-return-value): left to MPI on purpose
    return {};
  }
#endif
  return {value};
}

void Communicator::abort(std::string_view message, int exit_code) const {
  std::fflush(stdout);
  if (size() > 1)
    std::fprintf(stderr, "tessera: rank %d of %d ends the run: %.*s\n", rank(), size(),
                 static_cast<int>(message.size()), message.data());
  else
    std::fprintf(stderr, "tessera: %.*s\n", static_cast<int>(message.size()), message.data());
  std::fflush(stderr);
#if TESSERA_ENABLE_MPI
  if (mpi_runs()) MPI_Abort(MPI_COMM_WORLD, exit_code);
#endif
  std::_Exit(exit_code);
}

std::string Communicator::description() const {
#if TESSERA_ENABLE_MPI
  if (mpi_runs()) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string library(text, static_cast<std::size_t>(length));
    library = library.substr(0, library.find_first_of(",\n"));  // the rest tells who built it where
    int level = 0;
    MPI_Query_thread(&level);
    const char* const names[] = {"single", "funneled", "serialized", "multiple"};
    const int at = level == MPI_THREAD_MULTIPLE ? 3 : level == MPI_THREAD_SERIALIZED ? 2 : level == MPI_THREAD_FUNNELED;
    return library + ", thread level " + names[at];
  }
  return "built in, not started (one process)";
#else
  return "none (one process)";
#endif
}

// Exchange ------------------------------------------------------------------------------------------------------------

struct Exchange::Messages {
  struct Message {
    int peer = 0;
    int tag = 0;
    std::byte* into = nullptr;        // receives
    const std::byte* from = nullptr;  // sends
    std::size_t bytes = 0;
  };
  explicit Messages(Communicator c) : communicator(std::move(c)) {}

  Communicator communicator;
  std::vector<Message> posted;  // one a request with MPI
#if TESSERA_ENABLE_MPI
  std::vector<MPI_Request> requests;
#endif

  // Within one process: messages match by tag, in the order in which they were posted.
  void deliver_to_self() {
    for (const Message& in : posted) {
      if (in.from != nullptr || in.into == nullptr) continue;
      const auto out = std::find_if(posted.begin(), posted.end(),
                                    [&](const Message& m) { return m.from != nullptr && m.tag == in.tag; });
      if (out == posted.end()) {
        posted.clear();
        throw Error("tessera::Exchange", "a receive with tag " + std::to_string(in.tag) + " that no send matches",
                    "each receive needs a send with its tag", "Post both before wait()");
      }
      if (out->bytes != in.bytes) {
        const Message sent = *out, expected = in;
        posted.clear();
        length_mismatch(0, 0, in.tag, sent.bytes, expected.bytes);
      }
      if (in.bytes > 0) std::memcpy(in.into, out->from, in.bytes);
      out->from = nullptr;
    }
    const bool left = std::any_of(posted.begin(), posted.end(), [](const Message& m) { return m.from != nullptr; });
    posted.clear();
    require(!left, [&] {
      return Error("tessera::Exchange", "a send that no receive matches", "each send needs a receive with its tag",
                   "Post both before wait()");
    });
  }
};

namespace {
std::byte empty_message;  // address of messages without bytes
}  // namespace

Exchange::Exchange(const Communicator& communicator) : m_messages(std::make_unique<Messages>(communicator)) {}
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

Exchange::~Exchange() {
#if TESSERA_ENABLE_MPI
  if (!m_messages || m_messages->requests.empty() || !mpi_runs()) return;
  // Left by an exception: the partner may never answer, so nothing is waited for.
  for (std::size_t i = 0; i < m_messages->requests.size(); ++i) {
    MPI_Request& request = m_messages->requests[i];
    if (request == MPI_REQUEST_NULL) continue;
    if (m_messages->posted[i].into != nullptr) MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
#endif
}

void Exchange::receive(int from, int tag, std::span<std::byte> bytes) {
  Messages& m = *m_messages;
  check_peer("tessera::Exchange::receive", from, m.communicator.size(), tag);
  std::byte* const data = bytes.empty() ? &empty_message : bytes.data();
#if TESSERA_ENABLE_MPI
  if (!m.communicator.m_state->alone()) {
    std::size_t done = 0;
    do {
      const std::size_t n = std::min(piece_bytes, bytes.size() - done);
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Irecv(data + done, static_cast<int>(n), MPI_BYTE, from, tag, m.communicator.m_state->comm, &request),
            "tessera::Exchange::receive");
      m.requests.push_back(request);
      m.posted.push_back({from, tag, data + done, nullptr, n});
      done += n;
    } while (done < bytes.size());
    return;
  }
#endif
  m.posted.push_back({from, tag, data, nullptr, bytes.size()});
}

void Exchange::send(int to, int tag, std::span<const std::byte> bytes) {
  Messages& m = *m_messages;
  check_peer("tessera::Exchange::send", to, m.communicator.size(), tag);
  const std::byte* const data = bytes.empty() ? &empty_message : bytes.data();
#if TESSERA_ENABLE_MPI
  if (!m.communicator.m_state->alone()) {
    std::size_t done = 0;
    do {
      const std::size_t n = std::min(piece_bytes, bytes.size() - done);
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Isend(data + done, static_cast<int>(n), MPI_BYTE, to, tag, m.communicator.m_state->comm, &request),
            "tessera::Exchange::send");
      m.requests.push_back(request);
      m.posted.push_back({to, tag, nullptr, data + done, n});
      done += n;
    } while (done < bytes.size());
    return;
  }
#endif
  m.posted.push_back({to, tag, nullptr, data, bytes.size()});
}

void Exchange::progress() {
#if TESSERA_ENABLE_MPI
  Messages& m = *m_messages;
  if (m.requests.empty()) return;
  int done = 0;
  // a probe drives the library without completing one of ours, whose status wait() wants to see
  MPI_Iprobe(MPI_ANY_SOURCE, max_tag, m.communicator.m_state->comm, &done, MPI_STATUS_IGNORE);
#endif
}

void Exchange::wait() {
  Messages& m = *m_messages;
#if TESSERA_ENABLE_MPI
  if (!m.communicator.m_state->alone()) {
    const int count = static_cast<int>(m.requests.size());
    std::vector<MPI_Status> statuses(m.requests.size());
    const int code = MPI_Waitall(count, m.requests.data(), statuses.data());
    const int me = m.communicator.rank();
    const std::vector<Messages::Message> posted = std::move(m.posted);
    m.posted.clear();
    if (code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS) m.requests.clear();
    for (std::size_t i = 0; i < posted.size(); ++i) {
      const Messages::Message& p = posted[i];
      if (code == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR != MPI_SUCCESS) {
        int kind = MPI_SUCCESS;
        MPI_Error_class(statuses[i].MPI_ERROR, &kind);
        if (kind == MPI_ERR_TRUNCATE)
          throw Error("tessera::Exchange",
                      rank_text(p.peer) + " sent more than the " + std::to_string(p.bytes) + " bytes that " +
                          rank_text(me) + " expects from it with tag " + std::to_string(p.tag),
                      "both sides must name the same length",
                      "Check that both ranks agree on the extents that they share");
        check(statuses[i].MPI_ERROR, "tessera::Exchange::wait");
      }
      if (p.into == nullptr || code != MPI_SUCCESS) continue;
      int received = 0;
      MPI_Get_count(&statuses[i], MPI_BYTE, &received);
      if (static_cast<std::size_t>(received) != p.bytes)
        length_mismatch(p.peer, me, p.tag, static_cast<std::size_t>(received), p.bytes);
    }
    check(code, "tessera::Exchange::wait");
    return;
  }
#endif
  m.deliver_to_self();
}

// Start and end -------------------------------------------------------------------------------------------------------

namespace detail {

bool start_mpi([[maybe_unused]] int& argc, [[maybe_unused]] char**& argv) {
#if TESSERA_ENABLE_MPI
  int started = 0;
  MPI_Initialized(&started);
  if (started) return false;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  return true;
#else
  return false;
#endif
}

void stop_mpi() {
#if TESSERA_ENABLE_MPI
  if (mpi_runs()) MPI_Finalize();
#endif
}

}  // namespace detail
}  // namespace tessera
