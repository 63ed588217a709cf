/** What `sluice simulate` reports. With `--json` it is printed as it is. */
export interface SimulationReport {
  readonly title: string;
  readonly description: string;
  readonly clients: readonly ClientReport[];
}

/** Outcomes of the requests of a client, or of all its copies together. */
export interface ClientReport {
  readonly client: string;
  readonly copies: number;
  readonly limits: readonly string[];
  readonly requests: number;
  /** When the first request arrived, in milliseconds from the beginning of the simulation. */
  readonly firstMs: number;
  /** The length of the windows of `mostWithin`. */
  readonly withinMs: number;
  readonly arrivals: Curve;
  /** Sluice comes first. */
  readonly results: readonly AlgorithmReport[];
}

/** What one algorithm did. */
export interface AlgorithmReport {
  readonly algorithm: string;
  readonly allowed: number;
  readonly denied: number;
  /** The most requests that continued in any window of `withinMs`, of which the end is not a part. */
  readonly mostWithin: number;
  /** When the last request continued, in milliseconds since the first one arrived; null if none did. */
  readonly lastMs: number | null;
  readonly curve: Curve;
}

/** How many requests there were up to a moment, in milliseconds since the first one arrived. At most some 500 points. */
export type Curve = readonly (readonly [ms: number, requests: number])[];
