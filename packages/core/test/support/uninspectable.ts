/** A value that throws at each look at it: its properties, its prototype, its keys. */
export function uninspectable(target: object = {}): object {
  const fail = (): never => {
    throw new Error('not for you');
  };
  return new Proxy(target, new Proxy({}, { get: () => fail }));
}

/** An object at which `util.inspect` throws, in every version of Node: the name of its class does. */
export function unshowable(): object {
  const nameless = Object.defineProperty(() => null, 'name', {
    get: () => {
      throw new Error('not for you');
    },
  });
  return Object.create(Object.create(null, { constructor: { value: nameless } }) as object) as object;
}
