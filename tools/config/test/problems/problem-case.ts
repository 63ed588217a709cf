/** Files with a mistake, and all problems that are reported for them. */
export interface ProblemCase {
  readonly name: string;
  readonly limits?: string | Uint8Array;
  readonly overrides?: string;
  readonly problems: readonly string[];
  /** Why a JSON Schema accepts the file nevertheless. */
  readonly schemaAccepts?: string;
}

export const OTHERS = `NewRegistrationsPerIPAddress: { count: 1, period: 1s }
NewRegistrationsPerIPv6Range: { count: 1, period: 1s }
`;

/** Returns a file of limits whose last limit has these fields. */
export function limitsWith(fields: string): string {
  return `${OTHERS}NewOrdersPerAccount:\n${fields}`;
}

/** Returns an override with these ids. */
export function overrideOf(ids: string, limit = 'NewOrdersPerAccount'): string {
  return `- ${limit}:\n    count: 600\n    period: 180m\n    ids:\n${ids}`;
}
