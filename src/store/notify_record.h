#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/notify/muting.h"
#include "judge/notify/router.h"
#include "store/clock_pair.h"

namespace wardmote::store {

inline constexpr std::string_view kNotifyPrefix = "notify/";  ///< of all of these
/// The last history of the store (store/agent_words.h) in which an agent has led.
inline constexpr std::string_view kNotifyHistoryKey = "notify/history";
inline constexpr std::string_view kGroupPrefix = "notify/group/";
inline constexpr std::string_view kSilencePrefix = "notify/silence/";

std::string group_key(std::string_view id);
std::string encode(const judge::notify::Group& group, const ClockPair& clock);
/// kProtocol when the text is not such a record.
Result<judge::notify::Group> decode_group(std::string_view record, const ClockPair& clock);

std::string silence_key(std::int64_t id);
std::string encode(const judge::notify::Silence& silence);
Result<judge::notify::Silence> decode_silence(std::string_view record);

}  // namespace wardmote::store
