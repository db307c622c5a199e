// fake_ovn_members FOLDER: the three members of the cluster in tests/data/ovn/01-healthy.txt, each
// with the sockets FOLDER/N.ctl and FOLDER/N.sock, which say what the real ones said; and three
// that accept and never say a word at FOLDER/hung-N.ctl and FOLDER/hung-N.sock. Any number of
// clusters may be made of them.

#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "bench/fake_crowd.h"
#include "codec/json_rpc.h"
#include "support/ovn_captures.h"

namespace {

using wardmote::bench::FakeCrowd;

constexpr std::string_view kCapture = "01-healthy.txt";
constexpr std::string_view kRowId = "ed899466-3efe-4cce-8dce-15b7e223b643";

/// What one member says, as the text of the result.
struct Member {
  std::string status;
  std::string rows;     ///< of a transaction
  std::string initial;  ///< of a monitor
};

/// `[{"rows":[ROW]}]` in the transcript.
Member make_member(const std::string& status, std::string_view rows) {
  const std::size_t begin = rows.find("[{", 2);
  const std::size_t end = rows.rfind("]}]");
  wardmote::check(begin != std::string_view::npos && end > begin, "the capture has no row");
  const std::string_view row = rows.substr(begin + 1, end - begin - 1);
  Member member;
  member.status = wardmote::codec::json_string(status);
  member.rows = rows;
  member.initial = fmt::format(R"([false,"00000000-0000-0000-0000-000000000000",)"
                               R"({{"Database":{{"{}":{{"initial":{}}}}}}}])",
                               kRowId, row);
  return member;
}

std::vector<Member> read_members() {
  const auto statuses = wardmote::testing::statuses_of(kCapture);
  const auto rows = wardmote::testing::lines_after(kCapture, "[{\"rows\":");
  wardmote::check(statuses.size() >= 3 && rows.size() >= 3, "the capture has no three members");
  std::vector<Member> members;
  for (std::size_t i = 0; i < 3; ++i)
    members.push_back(make_member(statuses[i], "[{\"rows\":" + rows[i]));
  return members;
}

const std::string& result_of(const Member& member, std::string_view method) {
  static const std::string kNothing = "[]";
  if (method == "cluster/status") return member.status;
  if (method == "transact") return member.rows;
  return method == "monitor_cond_since" ? member.initial : kNothing;
}

/// Requests as wardmote writes them, `{"id":7,"method":"…",…}`, each in one piece.
FakeCrowd::Then answer(const Member& member, std::string& received, std::string& reply) {
  constexpr std::string_view kId = "{\"id\":";
  constexpr std::string_view kMethod = ",\"method\":\"";
  const std::string_view all = received;
  for (std::size_t at = 0; (at = all.find(kId, at)) != std::string_view::npos;) {
    at += kId.size();
    const std::size_t method = all.find(kMethod, at);
    if (method == std::string_view::npos) break;
    const std::string_view id = all.substr(at, method - at);
    at = method + kMethod.size();
    const std::string_view name = all.substr(at, all.find('"', at) - at);
    fmt::format_to(std::back_inserter(reply), R"({{"id":{},"result":{},"error":null}})", id,
                   result_of(member, name));
  }
  received.clear();
  return FakeCrowd::Then::kKeepOpen;
}

FakeCrowd::Then keep_silent(std::string& received, std::string& /*reply*/) {
  received.clear();
  return FakeCrowd::Then::kKeepOpen;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fake_ovn_members FOLDER\n", stderr);
    return 64;
  }
  const std::string folder = argv[1];
  const std::vector<Member> members = read_members();
  FakeCrowd crowd;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Member* const member = &members[i];
    const auto speak = [member](std::string& received, std::string& reply) {
      return answer(*member, received, reply);
    };
    crowd.listen_unix(fmt::format("{}/{}.ctl", folder, i + 1), speak);
    crowd.listen_unix(fmt::format("{}/{}.sock", folder, i + 1), speak);
    crowd.listen_unix(fmt::format("{}/hung-{}.ctl", folder, i + 1), keep_silent);
    crowd.listen_unix(fmt::format("{}/hung-{}.sock", folder, i + 1), keep_silent);
  }
  crowd.run();
}
