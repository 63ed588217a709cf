import type { SluiceError } from '@sluice/core';
import { Channel } from './script-server.ts';
import type { Connection } from './connection.ts';
import { ended } from './ended.ts';
import type { LineParts } from '../client/line-parts.ts';
import { Patience } from './connect-timeout.ts';
import type { Servers } from '../client/servers.ts';
import type { Source } from '../client/state-log.ts';
import type { Trip } from '../client/script-run.ts';

/** A single server: standalone, or the primary that Sentinels name. */
export class OneServer implements Servers {
  readonly isCluster = false;
  readonly #connection: Connection;
  readonly #channel: Channel;

  constructor(connection: Connection, parts: LineParts, onChange: (source: Source) => void) {
    this.#connection = connection;
    this.#channel = new Channel({
      ...parts,
      connection,
      patience: new Patience(),
      isInCluster: false,
      onChange: () => onChange(this.#channel),
    });
  }

  get state(): Servers['state'] {
    return this.#channel.isWell ? 'up' : 'down';
  }

  channels(): readonly Channel[] {
    return [this.#channel];
  }

  run(trip: Trip): Promise<readonly unknown[]> | SluiceError {
    return this.#channel.isOpen ? this.#channel.run(trip, false) : this.#channel.refusal();
  }

  close(): Promise<void> {
    this.#channel.close();
    return ended(this.#connection);
  }
}
