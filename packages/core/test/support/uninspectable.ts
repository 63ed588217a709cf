/** A value that throws at each look at it: its properties, its prototype, its keys. */
export function uninspectable(target: object = {}): object {
  const fail = (): never => {
    throw new Error('not for you');
  };
  return new Proxy(target, new Proxy({}, { get: () => fail }));
}
