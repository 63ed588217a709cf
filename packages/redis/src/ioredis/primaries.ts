import { Channel } from './script-server.ts';
import { addressOf, type ClusterConnection, type Connection } from './connection.ts';
import type { LineParts } from '../client/line-parts.ts';
import { Patience } from './connect-timeout.ts';

/** The channels to the primaries of a cluster, by the `host:port` of the slot map. */
export class Primaries {
  readonly #cluster: ClusterConnection;
  readonly #parts: LineParts;
  readonly #onChange: (channel: Channel) => void;
  readonly #byAddress = new Map<string, Channel>();
  /** By address, because a stuck channel is replaced at each refresh of the map, and attempts count on. */
  readonly #patience = new Map<string, Patience>();

  constructor(cluster: ClusterConnection, parts: LineParts, onChange: (channel: Channel) => void) {
    this.#cluster = cluster;
    this.#parts = parts;
    this.#onChange = onChange;
  }

  /** All channels, open or not. */
  all(): readonly Channel[] {
    return [...this.#byAddress.values()];
  }

  at(address: string | undefined): Channel | undefined {
    return address === undefined ? undefined : this.#byAddress.get(address);
  }

  /** Opens and drops channels to match the current slot map. */
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
    // ioredis enables the offline queue of cluster nodes regardless of their options, but a script must not be queued.
    connection.options.enableOfflineQueue = false;
    if (connection.status === 'wait') connection.connect().catch(() => {});
    return channel;
  }
}
