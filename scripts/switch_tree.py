# SPDX-License-Identifier: BSD-3-Clause
"""Trees of running switches in network namespaces, with hosts at the leaves. Needs root."""

import itertools

import namespaces
from programs import any_cpu
from switched import Network


class SwitchTree(Network):
    """A switch, with hosts or with other switches below it. A context manager; raises CommandError.

    fans: its members, the members of each of these and so on; the last are hosts, at the leaves.
    aggregate: keys of every switch's --aggregate; formats: another one, and who has switches below
    takes digits of these. relays: what makes relay.Relay, for each link
    between switches; None: these are cables. All switches bridge: hosts are 10.1.0.1 and on, the
    root is 10.1.0.100, and those below it have the addresses that follow. leaves: switches that
    hosts are at, in order; members: those below; path: of a leaf, as netfc.allreduce.Place has it.
    """

    def __init__(self, program, fans, aggregate, frames, formats="all", relays=None, *,
                 above=None, index=0):
        self.fans, self.above, self.members = fans, above, []
        self._aggregate, self._formats = aggregate, formats
        self._relays, self._index = relays, index
        self.path = ((above.fans[0], index), *above.path) if above else ()
        self.numbers = above.numbers if above else itertools.count()
        keys = [aggregate, f"formats={formats}"]
        if self.has_members and "digits=" not in aggregate:
            keys.append(f"digits={formats}")
        if above:
            keys.append(f"parent={above.address}")
        super().__init__(program, () if self.has_members else range(fans[0]),
                         ["--aggregate", ",".join(keys)], frames,
                         address=f"10.1.0.{100 + next(self.numbers)}", first=self.first_host())

    def first_host(self):
        """The number of the first one, of all there are."""
        place = 0
        for members, index in reversed(self.path):
            place = place * members + index
        return place * self.fans[0]

    @property
    def has_members(self):
        """Whether there are switches below, and no hosts."""
        return len(self.fans) > 1

    @property
    def leaves(self):
        """Switches that hosts are at."""
        if not self.has_members:
            return [self]
        return [leaf for member in self.members for leaf in member.leaves]

    @property
    def switches(self):
        """All, this one first."""
        return [self, *(each for member in self.members for each in member.switches)]

    def _lcore_words(self):
        return ["--lcores", any_cpu(1)]  # there may be fewer CPUs than switches

    def _connect(self, middle):
        for index in range(self.fans[0] if self.has_members else 0):
            self.members.append(self._stack.enter_context(SwitchTree(
                self._program, self.fans[1:], self._aggregate, self._frames, self._formats,
                self._relays, above=self, index=index)))
        super()._connect(middle)
        if self.above:
            self._join_parent(self.above.middle, self._index, middle)
            middle.ip("link", "set", "eth0", "up")

    def _join_parent(self, above, number, middle):
        if self._relays is None:
            namespaces.join(above, number, middle)
            return
        for one, other in ((f"p{number}", f"x{number}"), (f"y{number}", f"z{number}")):
            above.ip("link", "add", one, "type", "veth", "peer", "name", other)
        above.ip("link", "set", f"z{number}", "netns", middle.name, "name", "eth0")
        for name in (f"p{number}", f"x{number}", f"y{number}"):
            above.ip("link", "set", name, "up")
        self._stack.enter_context(self._relays().between(above, f"x{number}", f"y{number}"))

    def _interfaces(self):
        own = [f"p{number}" for number in range(self.fans[0])]
        return own + ["eth0"] if self.above else own
