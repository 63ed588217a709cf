import type { Channel } from 'node:diagnostics_channel';
import { nodeModule } from './node-module.ts';

/** Returns Node's diagnostics channel of a name; in a runtime without such channels, one that nobody hears. */
export function channel(name: string): Channel {
  return nodeModule('node:diagnostics_channel')?.channel(name) ?? silentChannel(name);
}

/** Only what a publisher uses: those who subscribe do it by name, with `node:diagnostics_channel`. */
function silentChannel(name: string): Channel {
  return { name, hasSubscribers: false, publish: () => {} } as unknown as Channel;
}
