"""Congestion controls in Python: the calls of Linux's ``struct tcp_congestion_ops``."""

from __future__ import annotations

import difflib
from typing import Any, Literal, Union

from tcplab import errors
from tcplab._native import Ack, Change, View

__all__ = ["CongestionControl", "Reno", "methods_of"]

#: What a method gives back: nothing changes; the window in packets; several things.
Answer = Union[None, int, Change]

#: States of recovery (``enum tcp_ca_state``).
State = Literal["Open", "Disorder", "CWR", "Recovery", "Loss"]

#: Events (``enum tcp_ca_event``).
Event = Literal["TX_START", "CWND_RESTART", "COMPLETE_CWR", "LOSS", "ECN_NO_CE", "ECN_IS_CE"]


class CongestionControl:
    """A congestion control of one connection.

    A derived class must have :meth:`on_ack`; the other methods are optional. Methods that the class lacks are not
    called, and cost nothing. Windows are counted in packets of at most :attr:`View.mss` bytes, from 1 to 2^30.

    In a reduction TCP lowers the window by proportional rate reduction (RFC 6937) to the value of :meth:`ssthresh`,
    and does not call :meth:`on_ack`. After a timeout TCP sets the threshold to the value of :meth:`ssthresh`. The window
    becomes the number of packets in flight plus 1, and mostly no packet is in flight. After an idle time TCP halves the
    window for each idle RTO, down to the initial window (``net.ipv4.tcp_slow_start_after_idle``).

    With ``controls_cwnd`` TCP does no proportional rate reduction and no restart after an idle time. Timeouts, the value
    of :meth:`ssthresh` and :meth:`undo_cwnd` work as without ``controls_cwnd``.

    Attributes
    ----------
    name : str
        The name that getsockopt(TCP_CONGESTION) returns; empty: the name of the class.
    needs_ecn : bool
        True, as with ``TCP_CONG_NEEDS_ECN``: this end asks for ECN, and :meth:`cwnd_event` reports CE marks. All its
        packets are ECT(0), SYNs too, even if the connection has no ECN. Set ``needs_ecn`` at both ends. Without it, the
        other end refuses ECN to a SYN that is ECT(0) (Linux: ``tcp_ecn_create_request()``), and never echoes CE marks.
        If a class only reacts to CE marks, leave ``needs_ecn`` False and set ``net.ipv4.tcp_ecn = 1`` at the connecting
        host.
    controls_cwnd : bool
        True: TCP calls :meth:`on_ack` at each ACK of data, also during a reduction, and :meth:`on_ack` sets the window
        and the pacing rate (Linux: ``cong_control()``).
    """

    name: str = ""
    needs_ecn: bool = False
    controls_cwnd: bool = False

    def init(self, view: View) -> Answer:
        """Called when the handshake is complete.

        Parameters
        ----------
        view
            The connection.

        Returns
        -------
        int, Change or None
            New window in packets, a ``Change``, or None (keep the window).
        """

    def on_ack(self, ack: Ack) -> Answer:
        """Called when data was delivered (Linux: ``cong_avoid()``; with ``controls_cwnd`` ``cong_control()``).

        Parameters
        ----------
        ack
            The connection, and the values of this ACK.

        Returns
        -------
        int, Change or None
            New window in packets, a ``Change``, or None (keep the window).
        """
        raise NotImplementedError(f"{type(self).__name__} has no on_ack()")

    def ssthresh(self, view: View) -> int:
        """Called when TCP must reduce the window: at a loss, a timeout or a CE mark.

        Parameters
        ----------
        view
            The connection.

        Returns
        -------
        int
            The slow start threshold in packets, to which the window falls. If the class lacks this method, TCP uses half
            of the window, at least 2 packets.
        """
        return max(view.snd_cwnd // 2, 2)

    def undo_cwnd(self, view: View) -> int:
        """Called when a reduction proves unnecessary: the packets that were marked lost arrived late.

        Parameters
        ----------
        view
            The connection.

        Returns
        -------
        int
            The congestion window to restore, in packets. If the class lacks this method, TCP restores the window that it had
            before the reduction.
        """
        return max(view.snd_cwnd, view.prior_cwnd)

    def set_state(self, view: View, state: State) -> Answer:
        """Called when TCP sets the recovery state. TCP has set the window and the threshold before the call.

        As with Linux's ``tcp_set_ca_state()``, each timeout calls this method, even if the state is ``Loss`` already.

        Parameters
        ----------
        view
            The connection; ``view.ca_state`` is the previous state.
        state
            The new state: ``Open``, ``Disorder``, ``CWR``, ``Recovery``, ``Loss``.

        Returns
        -------
        int, Change or None
            New window in packets, a ``Change``, or None (keep the window).
        """

    def cwnd_event(self, view: View, event: Event) -> Answer:
        """Called at events.

        Parameters
        ----------
        view
            The connection.
        event
            ``TX_START``: data leaves while nothing is in flight. ``CWND_RESTART``: the window is cut after an idle
            time. ``COMPLETE_CWR``: a reduction is over. ``LOSS``: a timeout began a reduction. With
            ``needs_ecn`` there are two more events. ``ECN_NO_CE``: a data packet arrived without a CE mark. ``ECN_IS_CE``:
            a data packet arrived with a CE mark.

        Returns
        -------
        int, Change or None
            New window in packets, a ``Change``, or None (keep the window).
        """

    def pkts_acked(self, view: View, rtt_us: int | None) -> None:
        """Called after each ACK of data, also while the window is reduced.

        Parameters
        ----------
        view
            The connection.
        rtt_us
            The ACK's RTT in microseconds; None: no sample.
        """


class Reno(CongestionControl):
    """Reno (RFC 5681 3.1) in Python, as a base class: it sends the same packets as the built-in ``reno``.

    A derived class may replace :meth:`ssthresh` alone. If a class replaces :meth:`set_state`, it must call
    ``super().set_state(view, state)``, which resets ``count``. Only after a change of the path's MTU can ``count`` differ
    from the kernel's. The kernel resets ``snd_cwnd_cnt`` when an MTU probe succeeds, and keeps it when the MTU shrinks.

    Attributes
    ----------
    count : int
        Packets delivered since the window last grew (``snd_cwnd_cnt``).
    """

    name = "py-reno"

    def __init__(self) -> None:
        self.count = 0

    def on_ack(self, ack: Ack) -> Answer:
        """Slow start up to the threshold; then the window grows by one packet per round trip."""
        if not ack.is_cwnd_limited:
            return None
        cwnd, acked = ack.snd_cwnd, ack.acked
        if cwnd < ack.snd_ssthresh:
            grown = min(cwnd + acked, ack.snd_ssthresh)
            acked -= grown - cwnd
            cwnd = grown
        if acked == 0:
            return cwnd
        window = cwnd
        if self.count >= window:
            self.count = 0
            cwnd += 1
        more, self.count = divmod(self.count + acked, window)
        return cwnd + more

    def ssthresh(self, view: View) -> int:
        """Returns half of the window, at least 2."""
        return max(view.snd_cwnd // 2, 2)

    def set_state(self, view: View, state: State) -> Answer:
        """A reduction and a timeout reset ``count``."""
        # Linux tcp_init_cwnd_reduction(), tcp_enter_loss(): snd_cwnd_cnt = 0, whatever the algorithm.
        if state in ("CWR", "Recovery", "Loss"):
            self.count = 0


#: The methods in the order in which the part in Rust takes them.
METHODS = ("init", "on_ack", "ssthresh", "undo_cwnd", "set_state", "cwnd_event", "pkts_acked")


def name_of(one: Any) -> str:
    """The name of a class of congestion controls, or of the class of one: what it says itself, not what it inherits."""
    kind = one if isinstance(one, type) else type(one)
    return vars(one).get("name") or vars(kind).get("name") or kind.__name__


def check(algorithm: CongestionControl) -> None:
    """Refuses methods whose names are nearly those of a call: nobody would call them."""
    for name in dir(type(algorithm)):
        near = difflib.get_close_matches(name, METHODS, 1, 0.8)
        if near and name not in METHODS and callable(getattr(algorithm, name)):
            raise errors.UsageError(f"{type(algorithm).__name__}.{name}: no call of this name; did you mean `{near[0]}`?")


def methods_of(algorithm: CongestionControl) -> tuple[Any, ...]:
    """The methods of an algorithm; None: it has none of its own, and nobody calls it."""

    check(algorithm)

    def own(name: str) -> Any:
        base: Any = getattr(CongestionControl, name)
        is_own = getattr(type(algorithm), name) is not base or name in vars(algorithm)
        return getattr(algorithm, name) if is_own or name == "on_ack" else None

    return tuple(own(name) for name in METHODS)
