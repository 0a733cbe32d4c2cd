// The JSON document in the page: `tcplab.page/1`, written by crates/report/src/page/document.rs.
// Inside it are parts of `tcplab.analyze/1`, whose fields docs/analyze.md explains.

import type { ComparePage } from './compare';
import type { MatrixPage } from './matrix';
import type { DistributionsPage, PopulationPage, VariantsPage } from './population';

export interface PageDocument {
  schema: 'tcplab.page/1';
  version: string;
  captures: Capture[];
  charts: ChartInfo[];
  /** Wireshark's names of the bits of a packet's verdicts. */
  wireshark: [number, string][];
  /** The classes of time: name in JSON, name in text, meaning. */
  classes: [string, string, string][];
  charts_left_out: number;
}

export interface Capture {
  file: string;
  totals: Totals;
  /** How many streams were looked at. */
  checked: number;
  /** The same in words: which of how many. */
  extent: string;
  /** Streams that were asked for and are not there; else `null`. */
  absent: string | null;
  findings: Finding[];
  /** Indexes of findings that are told together; the first of each is told in full. */
  groups: number[][];
  /** Words of the glossary in the findings, with their meaning. */
  words: [string, string][];
  /** What silence means, where nothing was found in the connections; else `null`. */
  verdict: string | null;
  /** Trouble that no finding explains. */
  unexplained: string[];
  /** Time of a program, its buffer or its window that no finding names. */
  two_ends: string[];
  /** Packets that no detector has seen. */
  not_read: string[];
  /** Where the capture was taken, what it cannot show, what was left out. */
  about: string[];
  /** How long clients waited and for what, or what the streams took. */
  waited: string | null;
  /** The time that this sentence is about. */
  waited_us: Budget;
  /** What could not be looked for. */
  not_checked: Missing[];
  /** Words for `not_checked` of the streams. */
  missing: Record<string, string>;
  lines: StreamLine[];
  lines_left_out: number;
  details: Stream[];
}

/** The round trip of the whole path, as far as the capture point can tell it. */
export interface RoundTrip {
  us: { min: number; p50: number; p95: number; max: number; samples: number };
  from: string;
}

/** Microseconds of each class of time; those that are 0 are left out. */
export type Budget = Record<string, number>;

/** Evidence that a capture lacks, and the findings that need it. */
export interface Missing {
  lacks: string;
  /** `the handshake` */
  missing: string;
  how_to_get: string;
  findings: { finding: string; said_when: string; streams: number; stream: number }[];
}

export interface Totals {
  packets: number;
  tcp_packets: number;
  tcp_streams: number;
  fragments?: number;
  truncated?: number;
  malformed?: number;
  unknown_link?: number;
  time_out_of_order?: number;
  late_packets?: number;
  evicted_streams?: number;
  forgotten_streams?: number;
  time_ns?: [number, number];
  findings_not_listed?: number;
  dropped?: number;
  budget_us?: Budget;
  error?: { offset: number; message: string };
}

export interface Finding {
  id: string;
  severity: 'high' | 'medium' | 'info';
  stream: number;
  packets: number[];
  title: string;
  cause: string;
  remedy: string[];
  /** Absent when nobody has measured it. */
  confidence?: number;
  /** With `--prove`. */
  proof?: Proof;
}

/** What an experiment said about a finding. */
export interface Proof {
  outcome: 'proved' | 'reduced' | 'not_reproduced' | 'not_proved';
  /** Why it is not proved, or not reproduced. */
  reason?: string;
  /** What is compared. */
  figure?: string;
  captured_us?: number;
  stack?: string;
  before_us?: number;
  /** What the experiment leaves out that can change the figure. */
  assumes?: string;
  cures?: Cure[];
  /** The text of a file for `tcplab run`, and where it was written. */
  experiment?: string;
  file?: string;
}

export interface Cure {
  change: string;
  stack: string;
  /** Absent when the run has no such figure. */
  after_us?: number;
  gone: boolean;
}

export interface StreamLine {
  stream: number;
  client: string;
  server: string;
  state: string;
  start_ns: number;
  duration_us: number;
  packets: number;
  bytes: number;
  retransmissions: number;
  delayed_acks: number;
  findings: number;
  /** Class of time and microseconds. */
  budget: [number, number][];
}

export interface ChartInfo {
  capture: number;
  stream: number;
  rows: number;
  packets: number;
  origin_ns: number;
}

export interface Stream {
  stream: number;
  client: string;
  server: string;
  start_ns: number;
  duration_us: number;
  state: string;
  handshake?: {
    syn_retransmissions: number;
    synack_retransmissions: number;
    server_rtt_us?: number;
    client_rtt_us?: number;
  };
  vantage: string;
  round_trip?: RoundTrip;
  artefacts?: string[];
  /** Written out before its end: packets that came later are in no figure. */
  reported_early?: boolean;
  not_checked?: { lacks: string; findings: string[] }[];
  budget_us?: Budget;
  requests?: Request[];
  requests_not_listed?: number;
  client_to_server: Direction;
  server_to_client: Direction;
}

/** A request of the client and the answer to it. */
export interface Request {
  packet: number;
  start_us: number;
  duration_us: number;
  request_bytes: number;
  response_bytes: number;
  budget_us: Budget;
}

export interface Spread {
  min: number;
  p50: number;
  max: number;
}

export interface AckMode {
  mode: 'quick' | 'delayed';
  from_segment: number;
  from_byte: number;
  acks: number;
  mean_us: number;
}

export interface AcksSent {
  total: number;
  immediate: number;
  second_segment: number;
  delayed: number;
  piggybacked: number;
  other: number;
  /** Of `other`: late or not, nobody can tell. */
  unclear?: number;
  first_delayed_segment: number | null;
  immediate_us: Spread;
  delayed_us: Spread;
  path_us?: number;
  modes?: AckMode[];
}

export interface Direction {
  packets: number;
  data_segments: number;
  data_bytes: number;
  retransmissions: {
    total: number;
    fast: number;
    rto: number;
    tlp: number;
    other: number;
    spurious: number;
    unneeded: number;
  };
  out_of_order: number;
  duplicate_acks: number;
  lost_segments: number;
  zero_windows: number;
  rtt_us: { min: number; p50: number; p95: number; max: number; samples: number };
  acks_sent: AcksSent;
  unique_bytes?: number;
  goodput_bps?: number;
  max_in_flight_bytes?: number;
  mss?: number;
  window_scale?: number;
  window_unscaled?: boolean;
  round_trip?: RoundTrip;
  sack_permitted?: boolean;
  timestamps?: boolean;
  dsacks?: number;
  zero_window_probes?: number;
  copies?: number;
  keep_alives?: number;
  window_updates?: number;
  window_full?: number;
}

/** Every kind of page, by its schema. */
export type AnyPage =
  | PageDocument
  | PopulationPage
  | VariantsPage
  | DistributionsPage
  | MatrixPage
  | ComparePage;

const SCHEMAS: AnyPage['schema'][] = [
  'tcplab.page/1',
  'tcplab.page-population/1',
  'tcplab.page-variants/1',
  'tcplab.page-distributions/1',
  'tcplab.page-matrix/1',
  'tcplab.page-compare/1',
];

/** Reads the document out of the page, or `null` when the page is an empty template. */
export function readDocument(root: Document): AnyPage | null {
  const element = root.getElementById('tcplab-page');
  if (!element?.textContent) return null;
  const document = JSON.parse(element.textContent) as AnyPage;
  if (!SCHEMAS.includes(document.schema)) throw new Error(`unknown schema ${document.schema}`);
  return document;
}
