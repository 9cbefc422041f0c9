// A process that must not outlive the one at the other end of a socket.
#pragma once

namespace atone::features {

// From now on this process exits as soon as the other end of the socket is closed, whatever its threads are doing: a worker in the midst of
// a job would hold its device for as long as the job takes, which is for ever where the device hangs. False: there is no thread to watch.
bool exit_when_closed(int socket);

}  // namespace atone::features
