//! The counters of a host by nstat's names (net/ipv4/proc.c): those of TCP.

macro_rules! counters {
    ($($name:ident = $text:literal),+ $(,)?) => {
        /// A counter; its text is nstat's name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Counter { $($name),+ }

        /// All counters in the kernel's order.
        pub const COUNTERS: &[(Counter, &str)] = &[$((Counter::$name, $text)),+];
    };
}

counters! {
    ActiveOpens = "TcpActiveOpens",
    PassiveOpens = "TcpPassiveOpens",
    AttemptFails = "TcpAttemptFails",
    EstabResets = "TcpEstabResets",
    CurrEstab = "TcpCurrEstab",
    InSegs = "TcpInSegs",
    OutSegs = "TcpOutSegs",
    RetransSegs = "TcpRetransSegs",
    InErrs = "TcpInErrs",
    OutRsts = "TcpOutRsts",
    InCsumErrors = "TcpInCsumErrors",
    SyncookiesSent = "TcpExtSyncookiesSent",
    SyncookiesRecv = "TcpExtSyncookiesRecv",
    SyncookiesFailed = "TcpExtSyncookiesFailed",
    EmbryonicRsts = "TcpExtEmbryonicRsts",
    PruneCalled = "TcpExtPruneCalled",
    RcvPruned = "TcpExtRcvPruned",
    OfoPruned = "TcpExtOfoPruned",
    OutOfWindowIcmps = "TcpExtOutOfWindowIcmps",
    ArpFilter = "TcpExtArpFilter",
    TW = "TcpExtTW",
    TWRecycled = "TcpExtTWRecycled",
    TWKilled = "TcpExtTWKilled",
    PAWSActive = "TcpExtPAWSActive",
    PAWSEstab = "TcpExtPAWSEstab",
    BeyondWindow = "TcpExtBeyondWindow",
    TSEcrRejected = "TcpExtTSEcrRejected",
    PAWSOldAck = "TcpExtPAWSOldAck",
    PAWSTimewait = "TcpExtPAWSTimewait",
    DelayedACKs = "TcpExtDelayedACKs",
    DelayedACKLocked = "TcpExtDelayedACKLocked",
    DelayedACKLost = "TcpExtDelayedACKLost",
    ListenOverflows = "TcpExtListenOverflows",
    ListenDrops = "TcpExtListenDrops",
    HPHits = "TcpExtTCPHPHits",
    PureAcks = "TcpExtTCPPureAcks",
    HPAcks = "TcpExtTCPHPAcks",
    RenoRecovery = "TcpExtTCPRenoRecovery",
    SackRecovery = "TcpExtTCPSackRecovery",
    SACKReneging = "TcpExtTCPSACKReneging",
    SACKReorder = "TcpExtTCPSACKReorder",
    RenoReorder = "TcpExtTCPRenoReorder",
    TSReorder = "TcpExtTCPTSReorder",
    FullUndo = "TcpExtTCPFullUndo",
    PartialUndo = "TcpExtTCPPartialUndo",
    DSACKUndo = "TcpExtTCPDSACKUndo",
    LossUndo = "TcpExtTCPLossUndo",
    LostRetransmit = "TcpExtTCPLostRetransmit",
    RenoFailures = "TcpExtTCPRenoFailures",
    SackFailures = "TcpExtTCPSackFailures",
    LossFailures = "TcpExtTCPLossFailures",
    FastRetrans = "TcpExtTCPFastRetrans",
    ForwardRetrans = "TcpExtTCPForwardRetrans",
    SlowStartRetrans = "TcpExtTCPSlowStartRetrans",
    Timeouts = "TcpExtTCPTimeouts",
    LossProbes = "TcpExtTCPLossProbes",
    LossProbeRecovery = "TcpExtTCPLossProbeRecovery",
    RenoRecoveryFail = "TcpExtTCPRenoRecoveryFail",
    SackRecoveryFail = "TcpExtTCPSackRecoveryFail",
    RcvCollapsed = "TcpExtTCPRcvCollapsed",
    DSACKOldSent = "TcpExtTCPDSACKOldSent",
    DSACKOfoSent = "TcpExtTCPDSACKOfoSent",
    DSACKRecv = "TcpExtTCPDSACKRecv",
    DSACKOfoRecv = "TcpExtTCPDSACKOfoRecv",
    AbortOnData = "TcpExtTCPAbortOnData",
    AbortOnClose = "TcpExtTCPAbortOnClose",
    AbortOnMemory = "TcpExtTCPAbortOnMemory",
    AbortOnTimeout = "TcpExtTCPAbortOnTimeout",
    AbortOnLinger = "TcpExtTCPAbortOnLinger",
    AbortFailed = "TcpExtTCPAbortFailed",
    MemoryPressures = "TcpExtTCPMemoryPressures",
    MemoryPressuresChrono = "TcpExtTCPMemoryPressuresChrono",
    SACKDiscard = "TcpExtTCPSACKDiscard",
    DSACKIgnoredOld = "TcpExtTCPDSACKIgnoredOld",
    DSACKIgnoredNoUndo = "TcpExtTCPDSACKIgnoredNoUndo",
    SpuriousRTOs = "TcpExtTCPSpuriousRTOs",
    SackShifted = "TcpExtTCPSackShifted",
    SackMerged = "TcpExtTCPSackMerged",
    SackShiftFallback = "TcpExtTCPSackShiftFallback",
    DeferAcceptDrop = "TcpExtTCPDeferAcceptDrop",
    TimeWaitOverflow = "TcpExtTCPTimeWaitOverflow",
    ReqQFullDoCookies = "TcpExtTCPReqQFullDoCookies",
    ReqQFullDrop = "TcpExtTCPReqQFullDrop",
    RetransFail = "TcpExtTCPRetransFail",
    RcvCoalesce = "TcpExtTCPRcvCoalesce",
    OFOQueue = "TcpExtTCPOFOQueue",
    OFODrop = "TcpExtTCPOFODrop",
    OFOMerge = "TcpExtTCPOFOMerge",
    ChallengeACK = "TcpExtTCPChallengeACK",
    SYNChallenge = "TcpExtTCPSYNChallenge",
    FastOpenActive = "TcpExtTCPFastOpenActive",
    FastOpenActiveFail = "TcpExtTCPFastOpenActiveFail",
    FastOpenPassive = "TcpExtTCPFastOpenPassive",
    FastOpenPassiveFail = "TcpExtTCPFastOpenPassiveFail",
    FastOpenListenOverflow = "TcpExtTCPFastOpenListenOverflow",
    FastOpenCookieReqd = "TcpExtTCPFastOpenCookieReqd",
    FastOpenBlackhole = "TcpExtTCPFastOpenBlackhole",
    SpuriousRtxHostQueues = "TcpExtTCPSpuriousRtxHostQueues",
    BusyPollRxPackets = "TcpExtBusyPollRxPackets",
    AutoCorking = "TcpExtTCPAutoCorking",
    FromZeroWindowAdv = "TcpExtTCPFromZeroWindowAdv",
    ToZeroWindowAdv = "TcpExtTCPToZeroWindowAdv",
    WantZeroWindowAdv = "TcpExtTCPWantZeroWindowAdv",
    SynRetrans = "TcpExtTCPSynRetrans",
    OrigDataSent = "TcpExtTCPOrigDataSent",
    HystartTrainDetect = "TcpExtTCPHystartTrainDetect",
    HystartTrainCwnd = "TcpExtTCPHystartTrainCwnd",
    HystartDelayDetect = "TcpExtTCPHystartDelayDetect",
    HystartDelayCwnd = "TcpExtTCPHystartDelayCwnd",
    ACKSkippedSynRecv = "TcpExtTCPACKSkippedSynRecv",
    ACKSkippedPAWS = "TcpExtTCPACKSkippedPAWS",
    ACKSkippedSeq = "TcpExtTCPACKSkippedSeq",
    ACKSkippedFinWait2 = "TcpExtTCPACKSkippedFinWait2",
    ACKSkippedTimeWait = "TcpExtTCPACKSkippedTimeWait",
    ACKSkippedChallenge = "TcpExtTCPACKSkippedChallenge",
    WinProbe = "TcpExtTCPWinProbe",
    KeepAlive = "TcpExtTCPKeepAlive",
    MTUPFail = "TcpExtTCPMTUPFail",
    MTUPSuccess = "TcpExtTCPMTUPSuccess",
    Delivered = "TcpExtTCPDelivered",
    DeliveredCE = "TcpExtTCPDeliveredCE",
    AckCompressed = "TcpExtTCPAckCompressed",
    ZeroWindowDrop = "TcpExtTCPZeroWindowDrop",
    RcvQDrop = "TcpExtTCPRcvQDrop",
    WqueueTooBig = "TcpExtTCPWqueueTooBig",
    FastOpenPassiveAltKey = "TcpExtTCPFastOpenPassiveAltKey",
    TimeoutRehash = "TcpExtTcpTimeoutRehash",
    DuplicateDataRehash = "TcpExtTcpDuplicateDataRehash",
    DSACKRecvSegs = "TcpExtTCPDSACKRecvSegs",
    DSACKIgnoredDubious = "TcpExtTCPDSACKIgnoredDubious",
    MigrateReqSuccess = "TcpExtTCPMigrateReqSuccess",
    MigrateReqFailure = "TcpExtTCPMigrateReqFailure",
    RecovLat = "TcpExtTCPRecovLat",
    RecovCnt = "TcpExtTCPRecovCnt",
    RecovLat2 = "TcpExtTCPRecovLat2",
    RecovCnt2 = "TcpExtTCPRecovCnt2",
}

/// Values of all counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mib {
    values: [u64; COUNTERS.len()],
    /// Microseconds of each recovery of [`Counter::RecovCnt`], where they are asked for.
    recoveries: Option<Vec<u32>>,
}

impl Default for Mib {
    fn default() -> Self {
        Self {
            values: [0; COUNTERS.len()],
            recoveries: None,
        }
    }
}

impl Mib {
    /// Adds to a counter.
    #[inline]
    pub fn add(&mut self, counter: Counter, n: u64) {
        self.values[counter as usize] = self.values[counter as usize].wrapping_add(n);
    }

    /// Takes from a gauge (`TcpCurrEstab`).
    #[inline]
    pub fn sub(&mut self, counter: Counter, n: u64) {
        self.values[counter as usize] = self.values[counter as usize].wrapping_sub(n);
    }

    /// The value of a counter.
    #[inline]
    pub fn get(&self, counter: Counter) -> u64 {
        self.values[counter as usize]
    }

    /// Keeps the time of each recovery from now on.
    pub fn keep_recoveries(&mut self) {
        self.recoveries.get_or_insert_default();
    }

    /// Microseconds of each recovery that came to its end since [`Mib::keep_recoveries`].
    pub fn recoveries(&self) -> &[u32] {
        self.recoveries.as_deref().unwrap_or_default()
    }

    /// A recovery came to its end.
    pub(crate) fn recovered(&mut self, us: u64) {
        self.add(Counter::RecovCnt, 1);
        self.add(Counter::RecovLat, us);
        if let Some(each) = &mut self.recoveries {
            each.push(u32::try_from(us).unwrap_or(u32::MAX));
        }
    }

    /// Names and values; what kernels do not count since 4.11, or before 6.12, is there when it counted something.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let gone = |counter| {
            matches!(
                counter,
                Counter::ForwardRetrans
                    | Counter::BeyondWindow
                    | Counter::TSEcrRejected
                    | Counter::PAWSOldAck
                    | Counter::PAWSTimewait
            )
        };
        COUNTERS
            .iter()
            .map(|(counter, name)| (*counter, *name, self.get(*counter)))
            .filter(move |(counter, _, value)| *value > 0 || !gone(*counter))
            .map(|(_, name, value)| (name, value))
    }
}
