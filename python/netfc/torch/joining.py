# SPDX-License-Identifier: BSD-3-Clause
"""Joining a job: of the switch, with as many slots as there are, or of ranks that share memory."""

import os
import time
import warnings
import weakref

from netfc.allreduce import AllreduceError, Communicator
from netfc.torch.meeting import Meeting, Place
from netfc.torch.options import Options

PASSING = ("full", "no-slots", "taken")  # refusals that end with another job, maybe
FULL_S = 1.0  # between two attempts to join where the switch is full
# The library's time-out is the last resort: it does not know which rank has not called.
SPARE_S = 10.0
DEADLINE_MAX_S = 4_000_000.0  # what netfc.allreduce takes


class Joining:
    """How a rank joins. timeout: seconds, of the process group."""

    def __init__(self, options: Options, timeout: float):
        self._options, self._timeout = options, timeout
        self.silence = min(options.silence, timeout / 2)

    def joined(self, place: Place, meeting: Meeting, sequence: int) -> Communicator:
        """In memory if all ranks can share it, else at the switch. Raises AllreduceError where
        there is none, or it does not let this rank join; as Meeting.agree() does."""
        if not place.local:
            return self._at_switch(place)
        comm, why = self._in_memory(place, meeting, sequence)
        told = meeting.exchange(f"shares{sequence}", why)
        if comm is not None and not any(told):
            return comm
        if comm is not None:
            comm.leave()
        rank = next(rank for rank, text in enumerate(told) if text)
        text = f"The ranks cannot share memory: {meeting.name(rank)}: {told[rank]}"
        if not place.switches:
            text = f"{text} Let them use a switch (NETFC_SWITCH)."
            raise AllreduceError(text, "system", rank, None)
        warnings.warn(f"netfc.torch: this process group goes through the switch: {text}")
        return self._at_switch(place)

    def _in_memory(
        self, place: Place, meeting: Meeting, sequence: int
    ) -> tuple[Communicator | None, str]:
        """Rank 0 makes the memory, before the others look for it. Gives why there is none; the
        others leave that to rank 0."""
        if meeting.rank > 0:
            path = meeting.offered(sequence)
            return self._shared(place, path) if path else (None, "")
        comm, path, why = None, "", ""
        try:
            file = os.memfd_create("netfc-torch", os.MFD_CLOEXEC)
            path = f"/proc/{os.getpid()}/fd/{file}"
            comm, why = self._shared(place, path)
            if comm is None:
                os.close(file)
            else:  # closing it sooner would free the locks on it
                weakref.finalize(comm, os.close, file)
        except OSError as error:
            why = str(error)
        meeting.offer(sequence, "" if comm is None else path)
        return comm, why

    def _shared(self, place: Place, path: str) -> tuple[Communicator | None, str]:
        try:
            return self._communicator(place, self._options.join_timeout, path), ""
        except (AllreduceError, MemoryError) as error:
            return None, str(error)

    def _at_switch(self, place: Place) -> Communicator:
        """A full switch has place when an earlier job has timed out, maybe."""
        timeout = min(self._timeout, self._options.join_timeout)
        end = time.monotonic() + timeout
        said = False
        while True:
            try:
                return self._attempt(place, max(0.1, end - time.monotonic()))
            except AllreduceError as unnamed:
                error = place.leaf.named(unnamed)
                if error.status not in PASSING:
                    raise error from unnamed
                # What comes of an attempt that has no time says nothing.
                if time.monotonic() + 2 * FULL_S >= end:
                    raise _full_error(place, error) from error
            if not said:
                said = True
                _say(f"waits up to {timeout:.0f} s, since the switch has no place for its job")
            time.sleep(FULL_S)

    def _communicator(
        self, place: Place, seconds: float, memory: str | None = None
    ) -> Communicator:
        deadline = min(self._timeout + SPARE_S, DEADLINE_MAX_S)
        return Communicator(
            () if memory else place.switches,
            worker=place.leaf.worker,
            workers=len(place.leaf.ranks),
            place=place.leaf.place,
            token=place.token,
            job=place.job,
            slots=place.slots,
            chunk_bytes=place.chunk_bytes,
            bind_address=None if memory else self._options.bind_address,
            interface=None if memory else self._options.interface,
            join_timeout=seconds,
            deadline=deadline,
            # A rank that is slow is waited for, as gloo does; then it is named.
            patience=deadline,
            silence=self.silence,
            memory=memory,
        )

    def _attempt(self, place: Place, seconds: float) -> Communicator:
        comm = self._communicator(place, seconds)
        granted = comm.info["slots"] // comm.info["switches"]
        if granted < place.least_slots:
            comm.leave()
            text = f"The switch has only {granted} slots left, and a process group needs"
            raise AllreduceError(f"{text} {place.least_slots}.", "no-slots", None, None)
        if granted < place.slots:
            _say(f"has {granted} slots of the switch, not {place.slots}: that is what is left")
        return comm


def _full_error(place: Place, error: AllreduceError) -> AllreduceError:
    text = (
        f"{error} Each process group has a job of its own, and another if callbacks reduce: this"
        f" one asks for {place.slots} slots (NETFC_SLOTS) and takes {place.least_slots} at"
        " least."
    )
    return AllreduceError(text, error.status, None, error.switch)


def _say(what: str) -> None:
    warnings.warn(f"netfc.torch: this process group {what}; docs/pytorch.md tells how to count")
