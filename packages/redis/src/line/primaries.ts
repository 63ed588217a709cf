import { Channel } from './channel.ts';
import { addressOf, type ClusterConnection, type Connection } from './connection.ts';
import type { LineParts } from './line-parts.ts';
import { Patience } from './patience.ts';

/** The channels to the primaries of a cluster, by `host:port`, as its map of the slots names them. */
export class Primaries {
  readonly #cluster: ClusterConnection;
  readonly #parts: LineParts;
  readonly #onChange: (channel: Channel) => void;
  readonly #byAddress = new Map<string, Channel>();
  /** Outlives the channels: one that is stuck gets a new connection at each refresh of the map. */
  readonly #patience = new Map<string, Patience>();

  constructor(cluster: ClusterConnection, parts: LineParts, onChange: (channel: Channel) => void) {
    this.#cluster = cluster;
    this.#parts = parts;
    this.#onChange = onChange;
  }

  /** All of them, open or not. */
  all(): readonly Channel[] {
    return [...this.#byAddress.values()];
  }

  at(address: string | undefined): Channel | undefined {
    return address === undefined ? undefined : this.#byAddress.get(address);
  }

  /** Takes over what the map of the slots says now. */
  update(): void {
    const connections = new Map(this.#cluster.nodes('master').map((node) => [addressOf(node), node]));
    for (const [address, channel] of this.#byAddress) {
      if (connections.get(address) !== channel.connection) this.#drop(address, channel);
      if (!connections.has(address)) this.#patience.delete(address);
    }
    for (const [address, connection] of connections) {
      if (!this.#byAddress.has(address)) this.#byAddress.set(address, this.#open(address, connection));
    }
  }

  close(): void {
    for (const [address, channel] of this.#byAddress) this.#drop(address, channel);
  }

  #drop(address: string, channel: Channel): void {
    channel.close();
    this.#byAddress.delete(address);
  }

  #open(address: string, connection: Connection): Channel {
    const patience = this.#patience.get(address) ?? new Patience();
    this.#patience.set(address, patience);
    const channel: Channel = new Channel({
      ...this.#parts,
      connection,
      patience,
      isInCluster: true,
      onChange: () => this.#onChange(channel),
    });
    // A cluster gives its nodes a queue, whatever they were told; nothing of ours may wait in one.
    connection.options.enableOfflineQueue = false;
    if (connection.status === 'wait') connection.connect().catch(() => {});
    return channel;
  }
}
