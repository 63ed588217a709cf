import type { SluiceError } from '@sluice/core';
import type { ScriptRun } from '../client/script-run.ts';
import type { ClientParts } from '../client/script-servers.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import type { Connection } from './connection.ts';
import { ScriptServer } from './script-server.ts';
import { ConnectTimeout } from './watches.ts';

/** What primaries report to their cluster. */
interface PrimariesListener {
  /** Called when the state of a server may have changed. */
  onChange(server: ScriptServer): void;
  /** Called with a run that has failed on a server, and has not ended. */
  onFailure(server: ScriptServer, run: ScriptRun, error: SluiceError): void;
}

/** The primaries of a cluster, by the `host:port` of the slot map. */
export class Primaries {
  readonly #cluster: ClusterConnection;
  readonly #parts: ClientParts;
  readonly #listener: PrimariesListener;
  readonly #servers = new Map<string, ScriptServer>();
  /** By address, because a stuck server is replaced at each refresh of the map, and attempts count on. */
  readonly #connectTimeouts = new Map<string, ConnectTimeout>();

  constructor(cluster: ClusterConnection, parts: ClientParts, listener: PrimariesListener) {
    this.#cluster = cluster;
    this.#parts = parts;
    this.#listener = listener;
  }

  /** Returns all primaries, open or not. */
  list(): readonly ScriptServer[] {
    return [...this.#servers.values()];
  }

  find(address: string | undefined): ScriptServer | undefined {
    return address === undefined ? undefined : this.#servers.get(address);
  }

  /** Opens and drops servers to match the current slot map. */
  update(): void {
    const connections = this.#cluster.primaries();
    for (const [address, server] of this.#servers) {
      if (connections.get(address) !== server.connection) this.#drop(address, server);
      if (!connections.has(address)) this.#connectTimeouts.delete(address);
    }
    for (const [address, connection] of connections) {
      if (!this.#servers.has(address)) this.#servers.set(address, this.#open(address, connection));
    }
  }

  close(): void {
    for (const [address, server] of this.#servers) this.#drop(address, server);
  }

  #drop(address: string, server: ScriptServer): void {
    server.close();
    this.#servers.delete(address);
  }

  #open(address: string, connection: Connection): ScriptServer {
    const connectTimeout = this.#connectTimeouts.get(address) ?? new ConnectTimeout();
    this.#connectTimeouts.set(address, connectTimeout);
    const server: ScriptServer = new ScriptServer({
      ...this.#parts,
      connection,
      connectTimeout,
      isInCluster: true,
      onChange: () => this.#listener.onChange(server),
      onFailure: (run, error) => this.#listener.onFailure(server, run, error),
    });
    return server;
  }
}
