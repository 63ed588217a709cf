import type { Exchange } from '@sluice/core/http';

/** Makes an exchange without fields. Its response never ends, unless `more` has an `onEnd`. */
export function plainExchange(more: Partial<Exchange<object>> = {}): Exchange<object> {
  return {
    request: {},
    method: 'GET',
    header: () => undefined,
    peer: undefined,
    decision: undefined,
    getField: () => undefined,
    setField: () => undefined,
    ...more,
  };
}
