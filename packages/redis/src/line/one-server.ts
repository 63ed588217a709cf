import type { SluiceError } from '@sluice/core';
import { Channel } from './channel.ts';
import type { Connection } from './connection.ts';
import { ended } from './ended.ts';
import type { LineParts } from './line-parts.ts';
import { Patience } from './patience.ts';
import type { Servers } from './servers.ts';
import type { Source } from './state-log.ts';
import type { Trip } from './trip.ts';

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
