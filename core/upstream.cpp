#include "core/upstream.hpp"

namespace halfopen {

template class BasicUpstream<Threads>;
template class BasicUpstream<Single>;

}  // namespace halfopen
