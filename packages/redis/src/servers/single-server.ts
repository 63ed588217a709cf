import type { SluiceError } from '@sluice/core';
import type { ClientParts, ScriptServers } from '../client/script-servers.ts';
import type { ChangeSource } from '../client/state-log.ts';
import type { Connection } from './connection.ts';
import { ScriptServer } from './script-server.ts';
import { ConnectTimeout } from './watches.ts';

/** A single server: standalone, or the primary that Sentinels name. */
export class SingleServer implements ScriptServers {
  readonly isCluster = false;
  readonly #connection: Connection;
  readonly #server: ScriptServer;

  constructor(connection: Connection, parts: ClientParts, onChange: (source: ChangeSource) => void) {
    this.#connection = connection;
    this.#server = new ScriptServer({
      ...parts,
      connection,
      connectTimeout: new ConnectTimeout(),
      isInCluster: false,
      onChange: () => onChange(this.#server),
      onFailure: (run, error) => run.failed(error),
    });
  }

  get state(): ScriptServers['state'] {
    return this.#server.isHealthy ? 'up' : 'down';
  }

  get downCause(): SluiceError | undefined {
    return this.#server.isDown ? this.#server.unavailableError : undefined;
  }

  list(): readonly ScriptServer[] {
    return [this.#server];
  }

  serverOf(): ScriptServer | SluiceError {
    return this.#server.isOpen ? this.#server : this.#server.unavailableError;
  }

  close(): Promise<void> {
    this.#server.close();
    return this.#connection.close();
  }
}
