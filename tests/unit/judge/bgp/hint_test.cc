#include "judge/bgp/hint.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "judge/bgp/facts.h"

namespace wardmote::judge::bgp {
namespace {

std::string_view hint_of(SessionState state, std::string error = {}, bool admin_down = false) {
  Session session;
  session.state = state;
  session.last_error = std::move(error);
  session.admin_down = admin_down;
  return hint(session);
}

TEST(BgpHint, SaysWhatKeepsASessionDown) {
  EXPECT_EQ(hint_of(SessionState::kEstablished, "Hold timer expired"), "") << "it is up";
  EXPECT_EQ(hint_of(SessionState::kDown, "Hold timer expired", true), "it is disabled here");
  EXPECT_EQ(hint_of(SessionState::kIdle, "BGP Error: Hold timer expired"),
            "it stopped answering: packets are lost, or the daemon hangs");
  for (const SessionState state : {SessionState::kConnect, SessionState::kActive})
    EXPECT_EQ(hint_of(state),
              "no answer: the host is down, packets are dropped, or the passwords differ");
  EXPECT_EQ(hint_of(SessionState::kActive, "Socket: Connection refused"),
            "nobody listens there: no BGP daemon, or another port");
  EXPECT_EQ(hint_of(SessionState::kPassive), "waits for the other end to connect");
  EXPECT_EQ(hint_of(SessionState::kActive, "an error that nobody knows"), "");
  EXPECT_EQ(hint_of(SessionState::kOpenSent), "");
}

}  // namespace
}  // namespace wardmote::judge::bgp
