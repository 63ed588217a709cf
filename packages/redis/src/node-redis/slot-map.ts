import { reachableAddress, type NatMap } from '../servers/redirects.ts';

/** What {@link readSlotMap} needs to know of the node that has answered. */
interface Source {
  readonly host: string | undefined;
  readonly natMap: NatMap | undefined;
}

/** The nodes of a cluster, by the `host:port` at which this process reaches them, and the primary of each hash slot. */
export interface SlotMap {
  readonly nodes: ReadonlySet<string>;
  readonly primaries: ReadonlySet<string>;
  /** Changes when a node redirects a call. */
  readonly primaryOf: (string | undefined)[];
}

/**
 * Reads a reply of CLUSTER SLOTS: `[[from, to, primary, ...replicas], …]`, each node `[host, port, …]`.
 *
 * @throws {Error} If the node knows no slots: it does not belong to a cluster yet, or not any more.
 */
export function readSlotMap(reply: unknown, { host, natMap }: Source): SlotMap {
  const nodes = new Set<string>();
  const primaries = new Set<string>();
  const primaryOf: (string | undefined)[] = [];
  for (const [from, to, ...announced] of reply as [number, number, ...Announced[]][]) {
    // A node that does not know its own host announces none, or null.
    const addresses = announced.map(([name, port]) => reachableAddress(`${name ?? ''}:${port}`, host, natMap));
    for (const address of addresses) nodes.add(address);
    primaries.add(addresses[0]!);
    for (let slot = from; slot <= to; slot++) primaryOf[slot] = addresses[0];
  }
  if (primaries.size === 0) throw new Error('The node knows no hash slots');
  return { nodes, primaries, primaryOf };
}

type Announced = readonly [host: string | null, port: number, ...unknown[]];
