import type { Position } from '@sluice/config/kit';
import type { FailurePolicy, FieldsDialect } from '@sluice/core';
import type { TextKind } from '../spellings/text-kind.ts';
import type { DescriptorTree, EntryPattern } from './descriptor-tree.ts';
import type { PathPatterns } from './path-patterns.ts';

/** The largest cost of a request: all tokens of the largest quota. */
export const MAX_COST = 1_000_000_000_000;

/** What a file of tables says: which limits apply to which requests, and whose bucket each takes from. */
export interface Tables {
  /** By the name in the path: `/check/<name>`. */
  readonly http: ReadonlyMap<string, HttpTable>;
  /** By the domain of a request of Envoy. */
  readonly envoy: ReadonlyMap<string, EnvoyTable>;
  /** What some limits do while the store can't answer, by their name. */
  readonly onFailure: ReadonlyMap<string, OnFailure>;
}

/** The failure policy of one limit. */
export interface OnFailure {
  readonly policy: FailurePolicy;
  readonly at: Position;
}

/** The limits of the requests that proxies ask about by HTTP. */
export interface HttpTable {
  readonly name: string;
  /** The value of X-Accel-Redirect in the answer to an allowed request, for nginx. */
  readonly accelRedirect: string | undefined;
  readonly fields: FieldsDialect | false;
  readonly rules: readonly HttpRule[];
}

/** One limit of an HTTP table. */
export interface HttpRule {
  readonly limit: string;
  readonly limitAt: Position;
  readonly id: HttpId;
  readonly idAt: Position;
  readonly cost: number;
  readonly costAt: Position;
  /** In upper case; undefined for all. */
  readonly methods: ReadonlySet<string> | undefined;
  /** Undefined for all. */
  readonly paths: PathPatterns | undefined;
  /** How the backend distinguishes paths. */
  readonly pathKind: TextKind;
  /** Whether it only counts what it would have denied. */
  readonly shadow: boolean;
}

/** Where an HTTP table gets an id from. `everyone`: the limit has one bucket. */
export type HttpId =
  | { readonly from: 'address' | 'host' | 'method' | 'path' | 'everyone' }
  | { readonly from: 'header'; readonly name: string };

/** The limits of one domain of Envoy. */
export interface EnvoyTable {
  readonly domain: string;
  /** Its name in the metrics. */
  readonly countedAs: string;
  readonly fields: FieldsDialect | false;
  readonly tree: DescriptorTree<EnvoyRule>;
  readonly rules: readonly EnvoyRule[];
}

/** What applies to the descriptors that match one pattern. */
export interface EnvoyRule {
  readonly descriptor: readonly EntryPattern[];
  readonly at: Position;
  readonly effect: 'limit' | 'unlimited' | 'blocked';
  /** Undefined for `unlimited` and `blocked`. */
  readonly limit: string | undefined;
  readonly limitAt: Position;
  readonly id: EnvoyId;
  readonly idAt: Position;
  /** Whether an addend above 0 is taken only if it fits, or whether it fits or not. Undefined if the file does not say. */
  readonly report: 'spend' | 'charge' | undefined;
  /** The name of a rule that is blocked, by which others replace it. */
  readonly name: string | undefined;
  readonly nameAt: Position;
  /** The limits and the names of blocked rules that do not apply to a request to which this rule applies. */
  readonly replaces: ReadonlySet<string>;
  readonly replacesAt: Position;
  readonly shadow: boolean;
}

/**
 * Which values of a descriptor make the id: those of some keys. `rule`: all descriptors that match share one bucket.
 * `descriptor`: all keys with their values. Undefined for those entries whose value is not fixed.
 */
export type EnvoyId = 'rule' | 'descriptor' | readonly string[] | undefined;
